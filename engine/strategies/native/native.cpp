// `native`: our own schedule for the mathematics of FSDP2.
//
// What differs from `fully_shard`: parameters of a unit lie in one flat vector, of which every rank holds a
// contiguous part, so that a gather ends where compute reads and a reduction begins where backward writes: no
// copy-in, no copy-out, no second buffer. The next unit is gathered while this one computes, in forward too;
// the unit whose backward comes first is not given back after forward. Streams wait by events for exactly
// what they need; the host waits for nothing.
#include <algorithm>

#include "engine/scenario/train_spec.h"
#include "engine/strategies/native/native_gather.h"
#include "engine/strategies/native/native_reduce.h"
#include "engine/strategies/sharding_strategy.h"
#include "engine/strategies/volume_rules.h"

namespace shardlab {
namespace {

using native::NativeUnit;
using native::Streams;

Streams add_streams(StepBuilder& builder) {
  const StreamId gather = builder.add_stream("gather");
  if (builder.scope().forward_only) return {gather, gather};
  return {gather, builder.add_stream("reduce")};
}

class NativeStrategy : public ShardingStrategy<NativeUnit> {
 public:
  NativeStrategy(StepBuilder& builder, const Scenario& scenario)
      : ShardingStrategy(builder, scenario),
        streams_(add_streams(builder)),
        gather_(builder, streams_, groups_, units_),
        reduce_(builder, streams_, groups_, units_, scenario.train->optimizer_in_backward) {}

  void declare_persistent() override {
    declare_units(
        [&](UnitId unit) { return native::declare_native_unit(b_, unit, scenario_, groups_, streams_); });
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    if (micro_batch == 0) gather_.begin_step();
    begin_forward();
  }

  void pre_forward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait(unit);
    if (forward_sense() == ForwardSense::recomputation) return;
    for (const UnitId next : next_in_forward(unit, std::max(prefetch_depths().forward, 1)))
      gather_.unshard(next);
  }

  // Backward, which needs it, follows a recomputation at once.
  void post_forward(UnitId unit) override {
    if (forward_sense() == ForwardSense::recomputation) return;
    note_forward_ended(unit);
    const bool needed_next = !forward_only() && is_first_of_backward(unit);
    if (state(unit).reshard_after_forward && !needed_next) gather_.reshard(unit);
  }

  void pre_backward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait(unit);
    for (const UnitId next : next_in_backward(unit)) gather_.unshard(next);
  }

  void post_backward(UnitId unit) override {
    if (!state(unit).has_parameters) return;
    const std::vector<BufferId> gradients = live_gradients(unit);
    gather_.reshard(unit);
    if (reduces()) {
      reduce_.reduce(unit, gradients);
    } else {
      reduce_.keep(unit, gradients);
    }
  }

  void end_of_backward() override {
    post_backward(root());
    if (reduces() && !updates_in_backward()) reduce_.finish();
  }

  // Within backward it runs behind the reductions, beside compute.
  TrainedState trained() const override {
    TrainedState trained = ShardingStrategy::trained();
    trained.sums_one_norm = true;
    if (!updates_in_backward()) return trained;
    trained.stream = streams_.reduce;
    std::erase_if(trained.units, [&](const TrainedUnit& unit) { return units_[unit.unit.index()].updated; });
    return trained;
  }

  void finish_in_backward(const TrainedUnit& unit) override { reduce_.drop_updated(unit.unit); }
  void after_update() override {
    if (updates_in_backward()) reduce_.finish();
  }

  std::int64_t padded_elements(UnitId unit) const override {
    const int alignment = native::flat_alignment(b_, unit, groups_.shards);
    return make_layout(b_.graph(), b_.partition().unit(unit).parameters, groups_.shards, alignment)
        .flat_elements;
  }

 protected:
  // The layout of the reduction's input, or of a part of it.
  void shape_gradient(UnitId unit, Buffer& buffer) const override {
    const NativeUnit& state = units_[unit.index()];
    if (!state.one_gradient_buffer) return;
    buffer.parameters = b_.partition().unit(unit).parameters;
    buffer.layout = BufferLayout::flat;
    buffer.shards = groups_.shards;
    buffer.alignment = state.alignment;
    buffer.elements = padded_elements(unit);
  }

 private:
  bool updates_in_backward() const { return scenario_.train->optimizer_in_backward; }

  // Whether this is, among the units with parameters that give theirs back after forward, the one whose
  // forward ends last.
  bool is_first_of_backward(UnitId unit) const {
    const std::vector<UnitId>& order = forward_order();
    const auto resharding = std::find_if(order.rbegin(), order.rend(),
                                         [&](UnitId id) { return units_[id.index()].reshard_after_forward; });
    return resharding != order.rend() && *resharding == unit;
  }

  const Streams streams_;
  native::Gather gather_;
  native::Reduce reduce_;
};

}  // namespace

extern const StrategyReasons k_native_reasons;  // native_reasons.cpp

extern constexpr StrategyType k_native_strategy{
    .make = [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<NativeStrategy>(builder, scenario);
    },
    .reasons = &k_native_reasons,
    .volume_limit = resharding_volume,
};

}  // namespace shardlab
