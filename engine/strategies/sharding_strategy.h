// What strategies have in common that shard, gather and reduce unit by unit over a mesh of shards and
// replicas: the groups, the orders in which units are gathered ahead, and what the optimizer works on.
//
// What they do in between is their own: State is a strategy's record of one unit and derives from
// ShardedUnit.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "engine/scenario/mesh.h"
#include "engine/strategies/parameter_buffers.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/unit_extents.h"

namespace shardlab {

// Ranks and groups that all units share.
struct ShardGroups {
  int shards = 1;
  GroupId shard;
  std::optional<GroupId> replicate;  // where the mesh has replicas
};

inline ShardGroups add_shard_groups(StepBuilder& builder, const ResolvedMesh& mesh) {
  ShardGroups groups;
  groups.shards = mesh.shard;
  groups.shard = builder.add_group(GroupDimension::shard, mesh.shard);
  if (mesh.replicate > 1) groups.replicate = builder.add_group(GroupDimension::replicate, mesh.replicate);
  return groups;
}

struct ShardedUnit {
  bool has_parameters = false;
  bool reshard_after_forward = true;
  DType stored, param, reduce;

  BufferId shard;     // stored parameters, this rank's part
  BufferId full;      // what compute reads, in the compute dtype
  BufferId reduced;   // output of the reduction, when it is not the gradient itself
  BufferId gradient;  // sharded gradient in the stored dtype

  bool casts() const { return param != stored; }
};

// How many units ahead are gathered.
struct PrefetchDepths {
  int forward = 0;
  int backward = 0;
};
PrefetchDepths prefetch_depths_of(const Scenario& scenario);

template <typename State>
class ShardingStrategy : public Strategy {
 public:
  ShardingStrategy(StepBuilder& builder, const Scenario& scenario)
      : Strategy(builder),
        scenario_(scenario),
        groups_(add_shard_groups(builder, resolve_mesh(scenario))),
        depths_(prefetch_depths_of(scenario)) {}

  BufferId compute_parameters(UnitId unit) const override { return units_[unit.index()].full; }

  TrainedState trained() const override {
    TrainedState trained;
    trained.norm_group = groups_.shard;
    for (const UnitId id : units()) {
      const State& unit = units_[id.index()];
      if (unit.has_parameters && b_.is_live(unit.gradient))
        trained.units.push_back({id, unit.shard, {unit.gradient}});
    }
    return trained;
  }

 protected:
  // declare(UnitId) makes the record of a unit.
  template <typename Declare>
  void declare_units(Declare&& declare) {
    units_.resize(b_.partition().units.size());
    for (const UnitId unit : units()) state(unit) = declare(unit);
    for (const UnitId unit : find_extents(b_.graph(), b_.partition()).in_order()) {
      if (state(unit).has_parameters) forward_order_.push_back(unit);
    }
  }

  void begin_forward() { post_forward_order_.clear(); }
  void note_forward_ended(UnitId unit) {
    if (state(unit).has_parameters) post_forward_order_.push_back(unit);
  }

  // Up to `depth` units whose forward comes after this one's.
  std::vector<UnitId> next_in_forward(UnitId unit, int depth) const {
    return units_after(forward_order_, unit, depth);
  }
  // One unit or parallel.prefetch.backward_depth whose backward comes after this one's: the order in which
  // forward ended, reversed.
  std::vector<UnitId> next_in_backward(UnitId unit) const {
    const std::vector<UnitId> backward(post_forward_order_.rbegin(), post_forward_order_.rend());
    return units_after(backward, unit, std::max(depths_.backward, 1));
  }

  State& state(UnitId unit) { return units_[unit.index()]; }
  // parallel.prefetch.forward_depth and backward_depth.
  const PrefetchDepths& prefetch_depths() const { return depths_; }
  // Units with parameters, in the order in which their forward begins.
  const std::vector<UnitId>& forward_order() const { return forward_order_; }

  const Scenario& scenario_;
  const ShardGroups groups_;
  std::vector<State> units_;  // by UnitId

 private:
  PrefetchDepths depths_;
  std::vector<UnitId> forward_order_, post_forward_order_;
};

}  // namespace shardlab
