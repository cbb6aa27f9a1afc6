// `native`: our own schedule for the mathematics of FSDP2.
//
// What differs from `fully_shard`: parameters of a unit lie in one flat vector, of which every rank holds a
// contiguous part, so that a gather ends where compute reads and a reduction begins where backward writes: no
// copy-in, no copy-out, no second buffer. The next unit is gathered while this one computes, in forward too;
// the unit whose backward comes first is not given back after forward. Streams wait by events for exactly
// what they need; the host waits for nothing.
#include <algorithm>

#include "engine/scenario/mesh.h"
#include "engine/strategies/native/native_gather.h"
#include "engine/strategies/native/native_reduce.h"
#include "engine/strategies/shared_steps.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/unit_extents.h"

namespace shardlab {
namespace {

using native::Mesh;
using native::NativeUnit;
using native::Streams;

Streams add_streams(StepBuilder& builder) {
  const StreamId gather = builder.add_stream("gather");
  if (builder.scope().forward_only) return {gather, gather};
  return {gather, builder.add_stream("reduce")};
}

Mesh add_groups(StepBuilder& builder, const ResolvedMesh& mesh) {
  Mesh groups;
  groups.shards = mesh.shard;
  groups.shard = builder.add_group(GroupDimension::shard, mesh.shard);
  if (mesh.replicate > 1) groups.replicate = builder.add_group(GroupDimension::replicate, mesh.replicate);
  return groups;
}

class NativeStrategy : public Strategy {
 public:
  NativeStrategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        scenario_(scenario),
        streams_(add_streams(builder)),
        mesh_(add_groups(builder, resolve_mesh(scenario))),
        gather_(builder, streams_, mesh_, units_),
        reduce_(builder, streams_, mesh_, units_) {}

  void declare_persistent() override {
    units_.resize(b_.partition().units.size());
    for (const UnitId unit : units())
      state(unit) = native::declare_native_unit(b_, unit, scenario_, mesh_, streams_);
    for (const UnitId unit : find_extents(b_.graph(), b_.partition()).in_order()) {
      if (state(unit).has_parameters) order_.push_back(unit);
    }
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    if (micro_batch == 0) gather_.begin_step();
    post_forward_order_.clear();
  }

  void pre_forward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait(unit);
    if (forward_sense() == ForwardSense::recomputation) return;
    for (const UnitId next : units_after(order_, unit, std::max(prefetch().forward_depth, 1)))
      gather_.unshard(next);
  }

  // Backward, which needs it, follows a recomputation at once.
  void post_forward(UnitId unit) override {
    if (forward_sense() == ForwardSense::recomputation) return;
    if (state(unit).has_parameters) post_forward_order_.push_back(unit);
    const bool needed_next = !forward_only() && is_first_of_backward(unit);
    if (state(unit).reshard_after_forward && !needed_next) gather_.reshard(unit);
  }

  void pre_backward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait(unit);
    const std::vector<UnitId> backward(post_forward_order_.rbegin(), post_forward_order_.rend());
    for (const UnitId next : units_after(backward, unit, std::max(prefetch().backward_depth, 1)))
      gather_.unshard(next);
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
    if (reduces()) reduce_.finish();
  }

  BufferId compute_parameters(UnitId unit) const override { return units_[unit.index()].full; }

  std::vector<TrainedUnit> trained_units() const override {
    std::vector<TrainedUnit> trained;
    for (const UnitId id : units()) {
      const NativeUnit& unit = units_[id.index()];
      if (b_.is_live(unit.gradient)) trained.push_back({id, unit.shard, {unit.gradient}});
    }
    return trained;
  }

  std::optional<GroupId> norm_group() const override { return mesh_.shard; }
  bool sums_one_norm() const override { return true; }

  std::int64_t padded_elements(UnitId unit) const override {
    const int alignment = native::flat_alignment(b_, unit, mesh_.shards);
    return make_layout(b_.graph(), b_.partition().unit(unit).parameters, mesh_.shards, alignment)
        .flat_elements;
  }

 protected:
  // The layout of the reduction's input, or of a part of it.
  void shape_gradient(UnitId unit, Buffer& buffer) const override {
    const NativeUnit& state = units_[unit.index()];
    if (!state.one_gradient_buffer) return;
    buffer.parameters = b_.partition().unit(unit).parameters;
    buffer.layout = BufferLayout::flat;
    buffer.shards = mesh_.shards;
    buffer.alignment = state.alignment;
    buffer.elements = padded_elements(unit);
  }

 private:
  NativeUnit& state(UnitId unit) { return units_[unit.index()]; }
  const PrefetchSpec& prefetch() const { return scenario_.parallel.prefetch; }

  // Of the units with parameters that give theirs back after forward: the last whose forward ends.
  bool is_first_of_backward(UnitId unit) const {
    const auto resharding = std::find_if(order_.rbegin(), order_.rend(),
                                         [&](UnitId id) { return units_[id.index()].reshard_after_forward; });
    return resharding != order_.rend() && *resharding == unit;
  }

  const Scenario& scenario_;
  Streams streams_;
  Mesh mesh_;
  std::vector<NativeUnit> units_;  // by UnitId
  native::Gather gather_;
  native::Reduce reduce_;
  std::vector<UnitId> order_, post_forward_order_;  // of units with parameters
};

}  // namespace

extern const StrategyType k_native_strategy{
    "native", [](const ModelGraph&, const Scenario&) { return std::vector<OperatorId>{}; },
    [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<NativeStrategy>(builder, scenario);
    }};

}  // namespace shardlab
