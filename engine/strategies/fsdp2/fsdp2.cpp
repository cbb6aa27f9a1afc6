// FSDP2 (`fully_shard`), torch 2.11: torch/distributed/fsdp/_fully_shard.
//
// Mirrored: per-parameter shards along dimension 0; gathers into one output buffer and copies out to per-parameter tensors; in
// forward the output is dropped after the next unit's copy-out, in backward right after its own; implicit backward prefetch in
// reversed post-forward order; gradients leave after their copy-in, the last parameter's only after the reduce-scatter was issued (a
// loop variable still holds it); compute waits for the previous reduce-scatter before it drops that one's input; the root reduces in
// the final callback. Orders were recorded from the real thing.
#include "engine/strategies/fsdp2/gather.h"
#include "engine/strategies/fsdp2/reduce.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

using fsdp2::Precision;
using fsdp2::Streams;
using fsdp2::UnitState;

class Fsdp2Strategy : public Strategy {
 public:
  Fsdp2Strategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        scenario_(scenario),
        world_(world_size(scenario)),
        precision_{scenario.model.dtype, builder.graph().compute_dtype,
                   scenario.precision.reduce.value_or(builder.graph().compute_dtype)},
        streams_{builder.add_stream("copy_in"), builder.add_stream("all_gather"), builder.add_stream("reduce_scatter")},
        group_(builder.add_group("shard", world_)),
        gather_(builder, streams_, group_, precision_, units_),
        reduce_(builder, streams_, group_, precision_, units_) {}

  void declare_persistent() override {
    for (std::size_t i = 0; i < b_.partition().units.size(); ++i) units_.push_back(declare_unit(make_id<UnitId>(i)));
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    post_forward_order_.clear();
    gather_.begin_micro_batch();
  }

  void pre_forward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait_in_forward(unit);
  }

  void post_forward(UnitId unit) override {
    if (unit == Partition::root()) {
      gather_.drop_last_output();
    } else if (units_[unit.index()].has_parameters) {
      post_forward_order_.push_back(unit);
    }
    if (units_[unit.index()].reshard_after_forward) gather_.reshard(unit);
  }

  void pre_backward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait_in_backward(unit);
    if (const auto next = prefetch_target(unit)) gather_.unshard(*next);
  }

  void post_backward(UnitId unit) override {
    UnitState& state = units_[unit.index()];
    const std::vector<BufferId> gradients = live_gradients(unit);
    if (gradients.empty()) return;
    if (!reduces()) {
      if (scenario_.parallel.reshard_after_backward) gather_.reshard(unit);
      if (precision_.reduce != precision_.param) reduce_.accumulate_unsharded(unit, gradients);
      return;
    }
    if (reduce_.has_unsharded(unit)) reduce_.accumulate_unsharded(unit, gradients);
    if (state.has_parameters) gather_.reshard(unit);
    const bool accumulated = reduce_.has_unsharded(unit);
    reduce_.reduce(unit, accumulated ? reduce_.take_unsharded(unit) : gradients);
  }

  void end_of_backward() override {
    post_backward(Partition::root());
    reduce_.finish();
  }

  BufferId compute_parameters(UnitId unit) const override { return units_[unit.index()].full; }

  std::vector<TrainedUnit> trained_units() const override {
    std::vector<TrainedUnit> trained;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (b_.is_live(units_[i].gradient)) trained.push_back({make_id<UnitId>(i), units_[i].shard, {units_[i].gradient}});
    }
    return trained;
  }

  std::optional<GroupId> norm_group() const override { return group_; }

  std::int64_t padded_elements(UnitId unit) const override {
    return make_layout(b_.graph(), b_.partition().unit(unit).parameters, world_).gathered_elements();
  }

 protected:
  bool has_own_gradient_buffer(ParameterId parameter) const override {
    const Partition& partition = b_.partition();
    return partition.unit(partition.unit_of_parameter[parameter.index()]).parameters.back() == parameter;
  }

 private:
  UnitState declare_unit(UnitId unit) {
    const auto make = [&](std::string_view prefix, BufferClass kind, BufferLayout layout, DType dtype, StreamId stream) {
      return unit_buffer(b_, unit, prefix, kind, layout, dtype, world_, stream);
    };
    const StreamId compute = StepBuilder::compute();
    UnitState state;
    state.has_parameters = !b_.partition().unit(unit).parameters.empty();
    state.reshard_after_forward = unit != Partition::root() && scenario_.parallel.reshard_after_forward != "false";
    state.shard = declare_persistent_buffer(
        b_, make("shard", BufferClass::parameter_shard, BufferLayout::row_shards, precision_.stored, compute));
    if (b_.plan().phase == "setup") return state;
    const bool casts = precision_.param != precision_.stored;
    state.cast = !casts ? state.shard
                        : b_.declare(make("cast", BufferClass::gather_buffer, BufferLayout::row_shards, precision_.param,
                                          streams_.copy_in));
    state.gathered = b_.declare(
        make("gathered", BufferClass::gather_buffer, BufferLayout::gathered_row_shards, precision_.param, streams_.copy_in));
    state.full = b_.declare(
        make("full", BufferClass::gathered_parameters, BufferLayout::parameters, precision_.param, compute));
    state.reduce_input = b_.declare(
        make("rsin", BufferClass::reduce_buffer, BufferLayout::gathered_row_shards, precision_.reduce, compute));
    state.reduced = b_.declare(
        make("rsout", BufferClass::gradient_shard, BufferLayout::row_shards, precision_.reduce, streams_.reduce_scatter));
    state.gradient = b_.declare(
        make("gshard", BufferClass::gradient_shard, BufferLayout::row_shards, precision_.stored, streams_.reduce_scatter));
    return state;
  }

  // The unit whose forward ended just before this one's; for the root, the last of all.
  std::optional<UnitId> prefetch_target(UnitId unit) const {
    const auto& order = post_forward_order_;
    if (order.empty()) return std::nullopt;
    if (unit == Partition::root()) return order.back();
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (order[i] == unit) return order[i - 1];
    }
    return std::nullopt;
  }

  const Scenario& scenario_;
  int world_;
  Precision precision_;
  Streams streams_;
  GroupId group_;
  std::vector<UnitState> units_;  // by UnitId
  fsdp2::Gather gather_;
  fsdp2::Reduce reduce_;
  std::vector<UnitId> post_forward_order_;
};

}  // namespace

extern const StrategyType k_fsdp2_strategy{
    "fsdp2", [](const ModelGraph&, const Scenario&) { return std::vector<OperatorId>{}; },
    [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Fsdp2Strategy>(builder, scenario);
    }};

}  // namespace shardlab
