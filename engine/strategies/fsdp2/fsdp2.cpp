// FSDP2 (`fully_shard`), torch 2.11: torch/distributed/fsdp/_fully_shard.
//
// Mirrored: per-parameter shards along dimension 0; gathers into one output buffer and copies out to
// per-parameter tensors; in forward the output is dropped after the next unit's copy-out, in backward right
// after its own; implicit backward prefetch in reversed post-forward order; gradients leave after their
// copy-in, the last parameter's only after the reduce-scatter was issued (a loop variable still holds it);
// compute waits for the previous reduce-scatter before it drops that one's input; the root reduces in the
// final callback. Orders were recorded from the real thing.
#include <algorithm>

#include "engine/scenario/mesh.h"
#include "engine/strategies/fsdp2/declare_group.h"
#include "engine/strategies/fsdp2/gather.h"
#include "engine/strategies/fsdp2/reduce.h"
#include "engine/strategies/shared_steps.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/unit_extents.h"

namespace shardlab {
namespace {

using fsdp2::Mesh;
using fsdp2::Streams;
using fsdp2::UnitState;

Streams add_streams(StepBuilder& builder, const ResolvedMesh& mesh) {
  Streams streams;
  streams.copy_in = builder.add_stream("copy_in");
  streams.all_gather = builder.add_stream("all_gather");
  if (builder.scope().forward_only) return streams;
  streams.reduce_scatter = builder.add_stream("reduce_scatter");
  streams.all_reduce = mesh.replicate > 1 ? builder.add_stream("all_reduce") : streams.reduce_scatter;
  return streams;
}

Mesh add_groups(StepBuilder& builder, const ResolvedMesh& mesh) {
  Mesh groups;
  groups.shards = mesh.shard;
  groups.shard = builder.add_group(GroupDimension::shard, mesh.shard);
  if (mesh.replicate > 1) groups.replicate = builder.add_group(GroupDimension::replicate, mesh.replicate);
  return groups;
}

class Fsdp2Strategy : public Strategy {
 public:
  Fsdp2Strategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        scenario_(scenario),
        streams_(add_streams(builder, resolve_mesh(scenario))),
        mesh_(add_groups(builder, resolve_mesh(scenario))),
        gather_(builder, streams_, mesh_, units_),
        reduce_(builder, streams_, mesh_, units_) {}

  void declare_persistent() override {
    units_.resize(b_.partition().units.size());
    for (const UnitId unit : units())
      state(unit) = fsdp2::declare_group(b_, unit, scenario_, mesh_, streams_);
    for (const UnitId unit : find_extents(b_.graph(), b_.partition()).in_order()) {
      if (state(unit).has_parameters) pre_forward_order_.push_back(unit);
    }
  }

  void begin_micro_batch(int micro_batch, bool reduce_gradients) override {
    Strategy::begin_micro_batch(micro_batch, reduce_gradients);
    post_forward_order_.clear();
    for (UnitState& unit : units_) unit.posted = false;
    gather_.begin_forward();
  }

  // The outermost unit that a recomputation enters is a root of its own: the gather streams wait for compute.
  void pre_forward(UnitId unit) override {
    if (forward_sense() == ForwardSense::recomputation && !recomputed_root_) {
      recomputed_root_ = unit;
      gather_.begin_forward();
    }
    gather_.unshard(unit);
    gather_.wait_in_forward(unit);
    for (const UnitId next : units_after(pre_forward_order_, unit, prefetch().forward_depth))
      gather_.unshard(next);
  }

  void post_forward(UnitId unit) override {
    if (forward_sense() == ForwardSense::recomputation) return post_recomputation(unit);
    if (state(unit).has_parameters) post_forward_order_.push_back(unit);
    gather_.reshard_after_forward(unit);
    if (unit == root()) gather_.drop_last_output();
  }

  // Inside backward nothing is resharded after a forward, and the order for prefetches stays what it was.
  void post_recomputation(UnitId unit) {
    if (recomputed_root_ != unit) return;
    gather_.drop_last_output();
    recomputed_root_.reset();
  }

  void pre_backward(UnitId unit) override {
    gather_.unshard(unit);
    gather_.wait_in_backward(unit);
    const std::vector<UnitId> backward(post_forward_order_.rbegin(), post_forward_order_.rend());
    for (const UnitId next : units_after(backward, unit, std::max(prefetch().backward_depth, 1)))
      gather_.unshard(next);
  }

  void post_backward(UnitId unit) override {
    if (b_.partition().unit(unit).inputs_require_grad) run_post_backward(unit);
  }

  void run_post_backward(UnitId unit) {
    state(unit).posted = true;
    if (!state(unit).has_parameters) return;
    const std::vector<BufferId> gradients = live_gradients(unit);
    const bool last = micro_batch() + 1 == scenario_.train.accumulation;
    const bool reshards = last || scenario_.parallel.reshard_after_backward;
    if (!reduces()) {
      if (reshards) gather_.reshard(unit);
      if (state(unit).reduce != state(unit).param) reduce_.accumulate_unsharded(unit, gradients);
      return;
    }
    const bool accumulates = reduce_.has_unsharded(unit);
    if (accumulates) reduce_.accumulate_unsharded(unit, gradients);
    if (reshards) gather_.reshard(unit);
    const std::vector<BufferId> reduced = accumulates ? reduce_.take_unsharded(unit) : gradients;
    if (!reduced.empty()) reduce_.reduce(unit, reduced, last || scenario_.parallel.requires_all_reduce);
  }

  // The final callback runs what autograd did not come to: the root with integer inputs, units below which
  // nothing requires a gradient. It goes over all of them in the order of named_modules.
  void end_of_backward() override {
    for (const UnitId unit : in_definition_order()) {
      if (!state(unit).posted) run_post_backward(unit);
      gather_.drop_unused(unit);
    }
    reduce_.finish();
  }

  BufferId compute_parameters(UnitId unit) const override { return units_[unit.index()].full; }

  std::vector<TrainedUnit> trained_units() const override {
    std::vector<TrainedUnit> trained;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (units_[i].has_parameters && b_.is_live(units_[i].gradient))
        trained.push_back({make_id<UnitId>(i), units_[i].shard, {units_[i].gradient}});
    }
    return trained;
  }

  std::optional<GroupId> norm_group() const override { return mesh_.shard; }

  std::int64_t padded_elements(UnitId unit) const override {
    if (b_.partition().unit(unit).ignored) return Strategy::padded_elements(unit);
    return make_layout(b_.graph(), b_.partition().unit(unit).parameters, mesh_.shards).gathered_elements();
  }

 protected:
  bool has_own_gradient_buffer(ParameterId parameter) const override {
    return units_[b_.partition().unit_of_parameter[parameter.index()].index()].last_with_gradient ==
           parameter;
  }

 private:
  UnitState& state(UnitId unit) { return units_[unit.index()]; }
  const PrefetchSpec& prefetch() const { return scenario_.parallel.prefetch; }

  std::vector<UnitId> in_definition_order() const {
    std::vector<UnitId> order = units();
    const auto module = [&](UnitId unit) { return b_.partition().unit(unit).module; };
    std::sort(order.begin(), order.end(), [&](UnitId a, UnitId b) { return module(a) < module(b); });
    return order;
  }

  const Scenario& scenario_;
  Streams streams_;
  Mesh mesh_;
  std::vector<UnitState> units_;  // by UnitId
  fsdp2::Gather gather_;
  fsdp2::Reduce reduce_;
  std::vector<UnitId> pre_forward_order_, post_forward_order_;
  std::optional<UnitId> recomputed_root_;
};

}  // namespace

extern const StrategyType k_fsdp2_strategy{
    "fsdp2", [](const ModelGraph&, const Scenario&) { return std::vector<OperatorId>{}; },
    [](StepBuilder& builder, const Scenario& scenario) -> std::unique_ptr<Strategy> {
      return std::make_unique<Fsdp2Strategy>(builder, scenario);
    }};

}  // namespace shardlab
