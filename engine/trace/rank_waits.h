// Which ranks others wait for: from steps in which every rank has a trace of its own, measured or predicted.
//
// A rank waits in a collective from when it stands ready itself until the last member does. Whoever is last
// holds the others up. Waiting is not always lost: a collective that was asked for early may wait behind
// what computes.
#pragma once

#include <span>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

// Means over the steps, of one rank.
struct RankWait {
  int rank = 0;
  Nanoseconds step;      // its first issue to its last end
  Nanoseconds computes;  // what runs on its compute stream, collectives left out
  Nanoseconds waits;     // for others, in all its collectives
  double collectives = 0;
  double last = 0;      // of the collectives, those for which it came last
  Nanoseconds held_up;  // what the others waited in these for it, each on average

  friend bool operator==(const RankWait&, const RankWait&) = default;
};

// By rank; empty where steps hold one rank that stands for all. `plan`: that of the steps. Collectives of a
// group of one, those of which a member has no trace, and steps of other ranks than the first's are left out.
std::vector<RankWait> rank_waits(const StepPlan& plan, const Scenario& scenario,
                                 std::span<const StepTrace> steps);
std::vector<RankWait> rank_waits(const StepPlan& plan, const Scenario& scenario,
                                 std::span<const StepTrace* const> steps);

}  // namespace shardlab
