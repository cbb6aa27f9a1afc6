// ZeRO-3: every rank holds its elements of each parameter, gradient and optimizer state; parameters are
// gathered around each module that owns some.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py, parameter_offload.py and
// partitioned_param_coordinator.py. The first pass records in which order modules are entered and gathers
// each for itself; from the next on the trace says what to gather ahead and what to keep. The broadcasts by
// which ranks compare their traces, once a run, are left out.
#include <algorithm>
#include <utility>

#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/train_spec.h"
#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/zero3/gathers.h"
#include "engine/strategies/zero3/module_walk.h"
#include "engine/strategies/zero3/parameter_coordinator.h"
#include "engine/strategies/zero3/scatter_reduction.h"
#include "engine/strategies/zero3/trace_recorder.h"

namespace shardlab {
namespace {

class Zero3Strategy : public Strategy {
 public:
  Zero3Strategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        scenario_(scenario),
        options_(zero_options(scenario)),
        ranks_(resolve_mesh(scenario).shard),
        group_(builder.add_group(GroupDimension::shard, ranks_)),
        gather_stream_(stream("all_gather")),
        reduce_stream_(stream("reduce_and_partition")),
        host_(add_optimizer_host(builder, scenario)),
        order_(arrival_order(builder.graph())),
        ready_(completing_operators(builder.graph())),
        walk_(builder.graph(), builder.partition()) {}

  void declare_persistent() override {
    Buffer master = like_master("master", BufferClass::parameter_shard);
    if (host_) rest_pageable(master);
    const bool setup = b_.plan().phase == PlanPhase::setup;
    master_ = setup ? b_.declare(std::move(master)) : b_.declare_carried(std::move(master));
    const bool parameters_too = scenario_.offload->parameters == OffloadTarget::cpu;
    gathers_.emplace(b_, gather_stream_, group_, ranks_, parameters_too ? host_ : std::nullopt);
    reduction_.emplace(b_, options_, root(), reduce_stream_, group_, ranks_, host_,
                       scenario_.train->accumulation);
    if (setup) return cut_master();
    coordinator_.emplace(b_.graph(), b_.partition(), options_,
                         record_trace(b_.graph(), b_.partition(), scenario_));
    if (b_.is_first()) return;
    for (const ParameterId parameter : persistent()) {
      gathers_->carry(parameter);
      coordinator_->note_gathered(parameter);
    }
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    coordinator_->begin(!b_.is_first() || micro_batch > 0);
    reduction_->begin(micro_batch);
    walk_.begin();
    next_ = 0;
    // The shards that are gathered were written by the update before; DeepSpeed's host waits for it.
    if (gather_stream_ != StepBuilder::compute()) b_.wait(gather_stream_, StepBuilder::compute());
  }

  void pre_forward(UnitId unit) override { enter(unit, walk_.forward(unit)); }
  void post_forward(UnitId unit) override { leave(unit); }
  void pre_backward(UnitId unit) override { enter(unit, walk_.backward(unit)); }
  // The hook of a module hangs on the gradients of its inputs.
  void post_backward(UnitId unit) override {
    if (b_.partition().unit(unit).inputs_require_grad) return leave(unit);
    left_late_.push_back(unit);
  }

  void gradients_ready(SegmentId segment) override {
    const OperatorId begin = b_.partition().segment(segment).begin;
    while (next_ < order_.size() && ready_[order_[next_].index()] >= begin) take_next(begin);
  }

  void end_of_backward() override {
    reduction_->close();
    for (const UnitId unit : std::exchange(left_late_, {}))
      gathers_->release(coordinator_->release_late(unit));
    if (micro_batch() + 1 == scenario_.train->accumulation) gathers_->release(coordinator_->release_all());
  }

  BufferId compute_parameters(UnitId unit) const override {
    return gathers_->whole(b_.partition().unit(unit).parameters.front());
  }
  BufferId compute_parameter(ParameterId parameter) const override { return gathers_->whole(parameter); }

  TrainedState trained() const override {
    TrainedState trained;
    trained.norm_group = group_;
    trained.norm_dtype = DType::float64;
    trained.sums_one_norm = trained.measures_norm = true;
    if (host_) {
      trained.norm_dtype = DType::float32;
      trained.looked_through = trained.gradients_outlive_step = true;
      trained.stream = host_->stream;
      trained.space = MemorySpace::pageable_host;
    }
    trained.units.push_back({root(), master_, {reduced_gradient()}});
    return trained;
  }

  // Several gradients are joined in their dtype before they are copied to float32.
  void prepare_update() override {
    if (host_) return;
    const BufferId part = reduction_->part();
    const DType dtype = b_.plan().buffer(part).dtype;
    if (dtype == DType::float32) {
      update_gradient_ = copy(part, "update_gradient", DType::float32);
      return;
    }
    const BufferId joined = copy(part, "joined_gradient", dtype);
    update_gradient_ = copy(joined, "update_gradient", DType::float32);
    b_.free({joined});
  }

  void after_update() override {
    if (update_gradient_) b_.free({*update_gradient_});
    if (host_) {
      bring_back();
    } else {
      b_.emit(make_copy(b_, root(), {master_}, trained_shards()));
    }
    gathers_->gather_in_place(persistent());
  }

  std::int64_t padded_elements(UnitId unit) const override {
    return make_layout(b_.graph(), b_.partition().unit(unit).parameters, ranks_, 1, 1, ShardedBy::elements)
        .gathered_elements();
  }

 protected:
  bool has_own_gradient_buffer(ParameterId parameter) const override {
    return reduction_->is_oversized(parameter);
  }

 private:
  StreamId stream(std::string_view name) {
    return options_.overlaps(3) ? b_.add_stream(name) : StepBuilder::compute();
  }

  std::vector<ParameterId> persistent() const {
    std::vector<ParameterId> found;
    for (std::size_t i = 0; i < b_.graph().parameters.size(); ++i) {
      if (coordinator_->is_persistent(make_id<ParameterId>(i))) found.push_back(make_id<ParameterId>(i));
    }
    return found;
  }

  void enter(UnitId unit, int without_parameters) {
    for (; without_parameters > 0; --without_parameters)
      gathers_->gather(coordinator_->pass_by(), options_.allgather_sequential);
    const std::vector<ParameterId>& parameters = b_.partition().unit(unit).parameters;
    if (parameters.empty()) return;
    const ParameterCoordinator::Fetch fetch = coordinator_->fetch(unit);
    gathers_->gather(fetch.now, options_.allgather_sequential);
    gathers_->wait(parameters);
    gathers_->gather(fetch.ahead, options_.allgather_sequential);
  }

  void leave(UnitId unit) {
    if (!b_.partition().unit(unit).parameters.empty()) gathers_->release(coordinator_->release(unit));
  }

  // The gradients of one buffer that are complete, from the next on.
  void take_next(OperatorId begin) {
    const BufferId buffer = gradient_buffer(order_[next_]);
    const std::size_t first = next_++;
    while (next_ < order_.size() && ready_[order_[next_].index()] >= begin &&
           gradient_buffer(order_[next_]) == buffer)
      ++next_;
    reduction_->take(buffer, std::span(order_).subspan(first, next_ - first));
  }

  std::vector<BufferId> trained_shards() const {
    std::vector<BufferId> shards;
    for (const ParameterId parameter : parameters_with_gradients(b_.graph()))
      shards.push_back(gathers_->shard(parameter));
    return shards;
  }

  BufferId reduced_gradient() const {
    if (host_) return *reduction_->part_on_host();
    return update_gradient_ ? *update_gradient_ : reduction_->part();
  }

  // DeepSpeed clones the master, and a clone is not page-locked.
  void rest_pageable(Buffer& buffer) const {
    buffer.space = MemorySpace::pageable_host;
    buffer.stream = host_->stream;
  }

  // Tensor.copy_() from float32 in host memory converts there, into memory of its own, and the host waits.
  void bring_back() {
    const std::vector<BufferId> shards = trained_shards();
    const Buffer& shard = b_.plan().buffer(shards.front());
    BufferId source = master_;
    if (shard.space == MemorySpace::device && shard.dtype != DType::float32) {
      Buffer rounded = like_master("rounded", BufferClass::parameter_shard);
      rounded.dtype = shard.dtype;
      rest_pageable(rounded);
      source = b_.declare(std::move(rounded));
      Instruction round = make_copy(b_, root(), {master_}, {source});
      round.stream = host_->stream;
      round.allocates = {source};
      b_.emit(std::move(round));
    }
    Instruction back = make_copy(b_, root(), {source}, shards);
    if (shard.space != MemorySpace::device) back.stream = host_->stream;
    const InstructionId copied = b_.emit(std::move(back));
    if (shard.space == MemorySpace::device) emit_host_wait(b_, host_->stream, copied);
    if (source != master_) b_.free({source});
  }

  Buffer like_master(std::string name, BufferClass buffer_class) const {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.buffer_class = buffer_class;
    buffer.layout = BufferLayout::element_shards;
    buffer.parameters = parameters_with_gradients(b_.graph());
    buffer.shards = ranks_;
    buffer.elements =
        make_layout(b_.graph(), buffer.parameters, ranks_, 1, 1, ShardedBy::elements).shard_elements;
    buffer.unit = root();
    return buffer;
  }

  void cut_master() {
    Instruction copy = make_copy(b_, root(), trained_shards(), {master_});
    copy.allocates = {master_};
    b_.emit(std::move(copy));
  }

  BufferId copy(BufferId from, std::string name, DType dtype) {
    Buffer buffer = like_master(std::move(name), BufferClass::gradient_shard);
    buffer.dtype = dtype;
    const BufferId to = b_.declare(std::move(buffer));
    Instruction copy = make_copy(b_, root(), {from}, {to});
    copy.allocates = {to};
    b_.emit(std::move(copy));
    return to;
  }

  const Scenario& scenario_;
  const ZeroOptions options_;
  const int ranks_;
  const GroupId group_;
  const StreamId gather_stream_, reduce_stream_;
  const std::optional<HostState> host_;   // where the optimizer works, if not on the device
  const std::vector<ParameterId> order_;  // in which gradients become ready
  const std::vector<OperatorId> ready_;   // by ParameterId
  std::size_t next_ = 0;                  // of order_: the first gradient that is not ready
  ModuleWalk walk_;
  std::vector<UnitId> left_late_;  // in this micro-batch
  BufferId master_;
  std::optional<Gathers> gathers_;
  std::optional<ScatterReduction> reduction_;
  std::optional<ParameterCoordinator> coordinator_;  // none in the setup
  std::optional<BufferId> update_gradient_;
};

}  // namespace

extern const StrategyReasons k_zero3_reasons;  // zero3_reasons.cpp

extern constexpr StrategyType k_zero3_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Zero3Strategy>(builder, scenario);
    },
    .reasons = &k_zero3_reasons,
};

}  // namespace shardlab
