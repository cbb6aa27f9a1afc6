// DistributedDataParallel: every rank holds all parameters; gradients are copied into buckets, averaged and
// copied back. With gradient_as_bucket_view they stay there: the bucket is the gradient, what autograd made
// is dropped.
//
// Source: torch 2.11, csrc/distributed/c10d/reducer.cpp. A bucket is reduced when it is ready and
// all buckets before it were (they are issued in bucket order); the copies back happen at the end of
// backward. Before the forward that follows the first synchronised backward the one bucket of the beginning
// is dropped and the rebuilt ones take its place; rank 0 tells the others which parameters are in which
// (sync_bucket_indices). With find_unused_parameters nothing is rebuilt, and the ranks tell each other behind
// the last bucket which parameters got a gradient (all_reduce_local_used_map).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/scenario/parallel_spec.h"
#include "engine/strategies/ddp/ddp_buckets.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/volume_rules.h"

namespace shardlab {
namespace {

// The operator whose backward completes a parameter's gradient, and whether others add to it before.
struct ParameterUse {
  OperatorId first;
  bool tied = false;
};

// By ParameterId.
std::vector<ParameterUse> parameter_uses(const ModelGraph& graph) {
  const auto nowhere = make_id<OperatorId>(graph.operators.size());
  std::vector<ParameterUse> uses(graph.parameters.size(), ParameterUse{nowhere});
  for (std::size_t i = graph.operators.size(); i-- > 0;) {
    for (const ParameterId parameter : graph.operators[i].parameters) {
      ParameterUse& use = uses[parameter.index()];
      use = {make_id<OperatorId>(i), use.first != nowhere};
    }
  }
  return uses;
}

class DdpStrategy : public Strategy {
 public:
  DdpStrategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        spec_(scenario.parallel->ddp),
        rebuilds_in_first_step_(reduces_every_micro_batch(scenario) && micro_batches_of_step(scenario) > 1),
        stream_(builder.add_stream("all_reduce")),
        group_(builder.add_group(GroupDimension::replicate, world_size(scenario))),
        uses_(parameter_uses(builder.graph())) {}

  void declare_persistent() override {
    parameters_.resize(b_.partition().units.size());
    for (const UnitId unit : units()) {
      parameters_[unit.index()] = declare_persistent_buffer(
          b_, unit_buffer(b_, unit, "param", BufferClass::parameter, BufferLayout::parameters,
                          b_.graph().compute_dtype, 1, StepBuilder::compute()));
    }
    const PlanPhase phase = b_.plan().phase;
    if (phase == PlanPhase::steady || spec_.find_unused_parameters) {
      use(steady_buckets(b_.graph(), spec_), BufferRole::bucket);
    } else {
      use(first_buckets(b_.graph(), spec_), BufferRole::first_bucket);
    }
    for (Buffer& buffer : buffers_of_buckets())
      buffers_.push_back(declare_persistent_buffer(b_, std::move(buffer)));
    if (spec_.find_unused_parameters) used_ = declare_persistent_buffer(b_, map_of_used());
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    in_buckets_ = spec_.gradient_as_bucket_view && !reduced_.empty();
    reduced_.clear();
    told_used_.reset();
    if (spec_.find_unused_parameters) return;
    const PlanPhase phase = b_.plan().phase;
    const bool second_backward = phase == PlanPhase::first && rebuilds_in_first_step_ && micro_batch == 1;
    if (second_backward || (phase == PlanPhase::second && micro_batch == 0)) rebuild();
  }

  bool second_step_differs() const override {
    return !rebuilds_in_first_step_ && !spec_.find_unused_parameters;
  }

  void gradients_ready(SegmentId segment) override {
    if (!reduces()) return;
    const OperatorId begin = b_.partition().segment(segment).begin;
    if (spec_.gradient_as_bucket_view) collect_gradients(begin);
    while (reduced_.size() < buckets_.size() && buckets_[reduced_.size()].completed_by >= begin)
      reduce_next_bucket();
    if (used_ && !told_used_ && reduced_.size() == buckets_.size()) tell_used();
  }

  void end_of_backward() override {
    finish_buckets();
    if (told_used_) b_.wait(StepBuilder::compute(), *told_used_);
  }

  BufferId compute_parameters(UnitId unit) const override { return parameters_[unit.index()]; }

  TrainedState trained() const override {
    TrainedState trained;
    trained.gradients_outlive_step = spec_.gradient_as_bucket_view;
    for (const UnitId unit : units()) {
      std::vector<BufferId> gradients =
          spec_.gradient_as_bucket_view ? buckets_of(unit) : live_gradients(unit);
      if (!gradients.empty())
        trained.units.push_back({unit, parameters_[unit.index()], std::move(gradients)});
    }
    return trained;
  }

 protected:
  // With gradient_as_bucket_view gradients move into their bucket before it is reduced: one that waits for
  // another use of its parameter must not hold up its neighbours, whose bucket is reduced earlier.
  bool has_own_gradient_buffer(ParameterId parameter) const override {
    return spec_.gradient_as_bucket_view && uses_[parameter.index()].tied;
  }

 private:
  std::vector<BufferId> buckets_of(UnitId unit) const {
    return buckets_with([&](ParameterId id) { return b_.partition().unit_of_parameter[id.index()] == unit; });
  }

  template <typename Predicate>
  std::vector<BufferId> buckets_with(Predicate&& matches) const {
    std::vector<BufferId> buffers;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      const std::vector<ParameterId>& parameters = buckets_[i].parameters;
      if (std::any_of(parameters.begin(), parameters.end(), matches)) buffers.push_back(buffers_[i]);
    }
    return buffers;
  }

  // Gradients that are complete once backward has come to this operator move into their buckets: over what is
  // there, or onto what an earlier micro-batch of this step left.
  void collect_gradients(OperatorId begin) {
    for (const UnitId unit : units()) {
      for (const BufferId gradient : live_gradients(unit)) {
        const std::vector<ParameterId> parameters = b_.plan().buffer(gradient).parameters;
        const auto complete = [&](ParameterId id) { return uses_[id.index()].first >= begin; };
        if (!std::all_of(parameters.begin(), parameters.end(), complete)) continue;
        const auto held = [&](ParameterId id) {
          return std::find(parameters.begin(), parameters.end(), id) != parameters.end();
        };
        Instruction collect;
        collect.kind = in_buckets_ ? InstructionKind::Accumulate : InstructionKind::Pack;
        collect.unit = unit;
        collect.bytes = b_.plan().buffer(gradient).bytes();
        collect.reads = {gradient};
        collect.writes = buckets_with(held);
        if (in_buckets_)
          collect.reads.insert(collect.reads.end(), collect.writes.begin(), collect.writes.end());
        collected_ = b_.emit(std::move(collect));
        b_.free({gradient});
      }
    }
  }

  void use(std::vector<Bucket> buckets, BufferRole role) {
    buckets_ = std::move(buckets);
    role_ = role;
  }

  std::vector<Buffer> buffers_of_buckets() const {
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      Buffer buffer;
      buffer.role = role_;
      buffer.name = fmt::format("{}.{}", to_string(role_), i);
      buffer.buffer_class =
          spec_.gradient_as_bucket_view ? BufferClass::gradient : BufferClass::reduce_buffer;
      buffer.dtype = b_.graph().compute_dtype;
      buffer.elements = buckets_[i].bytes.value / element_size(buffer.dtype);
      buffer.layout = BufferLayout::parameters;
      buffer.parameters = buckets_[i].parameters;
      buffers.push_back(std::move(buffer));
    }
    return buffers;
  }

  void rebuild() {
    use(steady_buckets(b_.graph(), spec_), BufferRole::bucket);
    tell_indices("bucket_indices", parameters_in_buckets() + 1);
    tell_indices("bucket_sizes", static_cast<std::int64_t>(buckets_.size()));
    const std::vector<BufferId> old = std::exchange(buffers_, {});
    if (!in_buckets_) b_.free(old);
    for (Buffer& buffer : buffers_of_buckets()) {
      buffers_.push_back(b_.declare(std::move(buffer)));
      emit_initialize(b_, buffers_.back(), std::nullopt);
    }
    if (in_buckets_) move_gradients(old);
  }

  // Gradients that live in the old buckets.
  void move_gradients(const std::vector<BufferId>& old) {
    Instruction move;
    move.kind = InstructionKind::Copy;
    move.bytes = b_.plan().buffer(old.front()).bytes();
    move.reads = old;
    move.writes = buffers_;
    b_.emit(std::move(move));
    b_.free(old);
  }

  std::int64_t parameters_in_buckets() const {
    std::size_t count = 0;
    for (const Bucket& bucket : buckets_) count += bucket.parameters.size();
    return static_cast<std::int64_t>(count);
  }

  // A list of 32-bit numbers, from rank 0 to all.
  void tell_indices(std::string_view name, std::int64_t count) {
    Buffer buffer;
    buffer.name = name;
    buffer.buffer_class = BufferClass::scalar;
    buffer.dtype = DType::uint8;
    buffer.elements = 4 * count;
    const BufferId numbers = b_.declare(std::move(buffer));
    emit_initialize(b_, numbers, std::nullopt);
    Instruction tell;
    tell.kind = InstructionKind::Broadcast;
    tell.group = group_;
    tell.bytes = b_.plan().buffer(numbers).bytes();
    tell.reads = tell.writes = {numbers};
    b_.emit(std::move(tell));
    b_.free({numbers});
  }

  void finish_buckets() {
    if (spec_.gradient_as_bucket_view) {
      for (const InstructionId reduced : reduced_) b_.wait(StepBuilder::compute(), reduced);
      return;
    }
    for (std::size_t i = 0; i < reduced_.size(); ++i) {
      Instruction unpack;
      unpack.kind = InstructionKind::Unpack;
      unpack.bytes = buckets_[i].bytes;
      unpack.reads = {buffers_[i]};
      unpack.writes = gradients_of(buckets_[i]);
      unpack.waits = {reduced_[i]};
      b_.emit(std::move(unpack));
    }
  }

  // A 32-bit number for each parameter: whether it got a gradient here.
  Buffer map_of_used() const {
    Buffer used;
    used.name = "used_parameters";
    used.buffer_class = BufferClass::scalar;
    used.dtype = DType::uint8;
    used.elements = 4 * parameters_in_buckets();
    return used;
  }

  // Behind the last bucket, and awaited with them (Reducer::all_reduce_local_used_map).
  void tell_used() {
    Instruction tell;
    tell.kind = InstructionKind::AllReduce;
    tell.stream = stream_;
    tell.group = group_;
    tell.reduce = ReduceOperation::sum;
    tell.bytes = b_.plan().buffer(*used_).bytes();
    tell.reads = tell.writes = {*used_};
    told_used_ = b_.emit(std::move(tell));
  }

  void reduce_next_bucket() {
    const std::size_t index = reduced_.size();
    if (spec_.gradient_as_bucket_view) return reduce(index, *collected_);
    Instruction pack;
    pack.kind = InstructionKind::Pack;
    pack.bytes = buckets_[index].bytes;
    pack.reads = gradients_of(buckets_[index]);
    pack.writes = {buffers_[index]};
    reduce(index, b_.emit(std::move(pack)));
  }

  void reduce(std::size_t index, InstructionId packed) {
    Instruction reduce;
    reduce.kind = InstructionKind::AllReduce;
    reduce.stream = stream_;
    reduce.group = group_;
    reduce.reduce = ReduceOperation::average;
    reduce.bytes = buckets_[index].bytes;
    reduce.reads = reduce.writes = {buffers_[index]};
    reduce.waits = {packed};
    reduced_.push_back(b_.emit(std::move(reduce)));
  }

  std::vector<BufferId> gradients_of(const Bucket& bucket) {
    std::vector<BufferId> buffers;
    for (const ParameterId parameter : bucket.parameters) {
      const BufferId buffer = gradient_buffer(parameter);
      if (std::find(buffers.begin(), buffers.end(), buffer) == buffers.end()) buffers.push_back(buffer);
    }
    return buffers;
  }

  const DdpSpec& spec_;
  const bool rebuilds_in_first_step_;
  StreamId stream_;
  GroupId group_;
  std::vector<Bucket> buckets_;
  BufferRole role_ = BufferRole::bucket;  // of their buffers
  std::vector<BufferId> buffers_;         // by bucket
  std::vector<BufferId> parameters_;      // by UnitId
  std::vector<InstructionId> reduced_;    // all-reduces of this micro-batch, by bucket
  // With gradient_as_bucket_view:
  std::vector<ParameterUse> uses_;  // by ParameterId
  bool in_buckets_ = false;         // an earlier micro-batch of this step left gradients in the buckets
  std::optional<InstructionId> collected_;  // the last copy into a bucket
  // With find_unused_parameters:
  std::optional<BufferId> used_;
  std::optional<InstructionId> told_used_;  // in this micro-batch
};

}  // namespace

extern const StrategyReasons k_ddp_reasons;  // ddp_reasons.cpp

extern constexpr StrategyType k_ddp_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<DdpStrategy>(builder, scenario);
    },
    .reasons = &k_ddp_reasons,
    .volume_limit = replicated_volume,
    .extra_cuts =
        [](const ModelGraph& graph, const Scenario& scenario) {
          std::vector<OperatorId> cuts;
          for (const Bucket& bucket : steady_buckets(graph, scenario.parallel->ddp))
            cuts.push_back(bucket.completed_by);
          return cuts;
        },
};

}  // namespace shardlab
