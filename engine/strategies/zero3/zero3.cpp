// ZeRO-3: every rank holds its elements of each parameter, gradient and optimizer state; parameters are
// gathered around each module that owns some.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py, parameter_offload.py and
// partitioned_param_coordinator.py. The first pass records in which order modules are entered and gathers
// each for itself; from the next on the trace says what to gather ahead and what to keep. The broadcasts by
// which ranks compare their traces, once a run, are left out.
#include <algorithm>
#include <utility>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/offload_spec.h"
#include "engine/strategies/gradient_order.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/zero3/check_quantized.h"
#include "engine/strategies/zero3/check_swap.h"
#include "engine/strategies/zero3/gathers.h"
#include "engine/strategies/zero3/grouped_update.h"
#include "engine/strategies/zero3/leaf_gradients.h"
#include "engine/strategies/zero3/module_reads.h"
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
        groups_(builder.graph(), root(), ranks_, options_.sub_group_size),
        reads_(builder.graph(), builder.partition(), options_.leaf_module),
        ready_(reducing_operators(builder.graph(), builder.partition(), reads_)),
        order_(arrival_order(builder.graph(), ready_)),
        walk_(builder.graph(), builder.partition(), reads_) {}

  void declare_persistent() override {
    if (scenario_.offload->optimizer == OffloadTarget::nvme)
      swap_.emplace(b_, groups_, root(), scenario_, *host_);
    OptimizerSwap* const swap = swap_ ? &*swap_ : nullptr;
    update_.emplace(b_, groups_, root(), host_, swap);  // first: who asks for a parameter takes the exact one
    const bool parameters_too = scenario_.offload->parameters == OffloadTarget::cpu;
    gathers_.emplace(b_, gather_stream_, group_, ranks_, neighbours(), parameters_too ? host_ : std::nullopt,
                     options_.quantized_weights && ranks_ > 1);
    if (options_.quantized_gradients && scenario_.cluster->nodes > 1)
      exchange_.emplace(b_, root(), reduce_stream_, group_, ranks_, scenario_.cluster->gpus_per_node);
    reduction_.emplace(b_, options_, root(), reduce_stream_, group_, groups_, order_, ranks_, host_,
                       micro_batches_of_step(scenario_), swap, exchange_ ? &*exchange_ : nullptr);
    if (b_.plan().phase == PlanPhase::setup) return update_->cut_masters(*gathers_);
    coordinator_.emplace(b_.graph(), b_.partition(), reads_, options_,
                         record_trace(b_.graph(), b_.partition(), reads_, scenario_),
                         micro_batches_of_step(scenario_) == 1);
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

  void pre_forward(UnitId unit) override { enter(unit, walk_.forward(unit), in_forward()); }
  void post_forward(UnitId unit) override { leave(unit, in_forward()); }
  void pre_backward(UnitId unit) override { enter(unit, walk_.backward(unit), TracePass::backward); }
  bool wraps_outputs() const override { return true; }
  bool hooks_modules() const override { return true; }
  // The hook of a module hangs on the gradients of its inputs.
  void post_backward(UnitId unit) override {
    if (b_.partition().unit(unit).inputs_require_grad) leave(unit, TracePass::backward);
  }

  void gradients_ready(SegmentId segment) override {
    const OperatorId begin = b_.partition().segment(segment).begin;
    while (next_ < order_.size() && ready_[order_[next_].index()] >= begin) take_next(begin);
  }

  void end_of_backward() override {
    reduction_->close();
    gathers_->release(coordinator_->release_leftovers());
    if (micro_batch() + 1 == micro_batches_of_step(scenario_)) gathers_->release(coordinator_->release_all());
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
    const bool half = b_.partition().unit(root()).settings.precision.param == DType::float16;
    trained.checks_overflow = trained.holds_scale = trained.masks_overflow = half;
    if (host_) {
      trained.norm_dtype = DType::float32;
      trained.looked_through = trained.gradients_outlive_step = true;
      trained.stream = host_->stream;
      trained.space = MemorySpace::pageable_host;
    }
    trained.one_by_one = true;
    for (std::size_t group = 0; group < groups_.count(); ++group)
      trained.units.push_back(update_->unit(group, reduction_->part(group)));
    return trained;
  }

  void prepare_one(std::size_t group) override { update_->prepare(group, reduction_->part(group)); }
  void finish_one(std::size_t group) override { update_->finish(group, *gathers_); }
  void after_update() override {
    gathers_->gather_in_place(persistent());
    gathers_->forget_secondary();
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
  // How many share a parameter under hpZ; more than there are ranks is as many (groups.py,
  // _create_zero_param_parallel_group).
  int neighbours() const {
    return static_cast<int>(std::min<std::int64_t>(options_.hpz_partition_size, ranks_));
  }

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

  TracePass in_forward() const {
    return forward_sense() == ForwardSense::recomputation ? TracePass::recomputation : TracePass::forward;
  }

  void enter(UnitId unit, const std::vector<ModuleId>& on_the_way, TracePass pass) {
    for (std::size_t i = 0; i < on_the_way.size(); ++i)
      gathers_->gather(coordinator_->pass_by(), options_.allgather_sequential);
    const std::vector<ParameterId>& parameters = coordinator_->parameters(unit);
    if (parameters.empty()) return;
    const ParameterCoordinator::Fetch fetch = coordinator_->fetch(unit, pass);
    gathers_->gather(fetch.now, options_.allgather_sequential);
    gathers_->gather_asked_for(fetch.asked_for);
    gathers_->wait(parameters);
    gathers_->gather(fetch.ahead, options_.allgather_sequential);
  }

  void leave(UnitId unit, TracePass pass) {
    if (!coordinator_->parameters(unit).empty()) gathers_->release(coordinator_->release(unit, pass));
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

  const Scenario& scenario_;
  const ZeroOptions options_;
  const int ranks_;
  const GroupId group_;
  const StreamId gather_stream_, reduce_stream_;
  const std::optional<HostState> host_;  // where the optimizer works, if not on the device
  const SubGroups groups_;
  const ModuleReads reads_;
  const std::vector<OperatorId> ready_;   // by ParameterId: whose backward lets its gradient be reduced
  const std::vector<ParameterId> order_;  // in which gradients are reduced
  std::size_t next_ = 0;                  // index into order_: the first gradient that is not ready
  ModuleWalk walk_;
  std::optional<OptimizerSwap> swap_;  // where the optimizer's state lies on a drive
  std::optional<GroupedUpdate> update_;
  std::optional<Gathers> gathers_;
  std::optional<QuantizedReduction> exchange_;  // of gradients between nodes, where these are quantised
  std::optional<ScatterReduction> reduction_;
  std::optional<ParameterCoordinator> coordinator_;  // none in the setup
};

}  // namespace

extern const StrategyReasons k_zero3_reasons;  // zero3_reasons.cpp

extern constexpr StrategyType k_zero3_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Zero3Strategy>(builder, scenario);
    },
    .reasons = &k_zero3_reasons,
    .check_units = [](const Scenario& scenario, const ModelGraph& graph,
                      const Partition& partition) -> Status {
      SHARDLAB_CHECK_OK(check_staging_buffers(scenario, graph));
      SHARDLAB_CHECK_OK(check_quantized_weights(scenario, graph));
      return check_leaf_gradients(scenario, graph, partition);
    },
};

}  // namespace shardlab
