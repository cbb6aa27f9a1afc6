// What a measured run shows of time: ranks that compute longer than others, links that are slow.
#pragma once

#include <optional>

#include "engine/base/units.h"
#include "engine/doctor/case.h"
#include "engine/plan/instruction.h"

namespace shardlab {

// Computation of a steady step, mean over the steps, of the ranks that compute least and most.
struct ComputeSpread {
  int fastest = 0, slowest = 0;  // ranks
  Nanoseconds least, most;
};

// Nothing for one rank, or where no steps were kept. The case must have a plan.
std::optional<ComputeSpread> compute_spread(const Case& facts);

// The rank for which the others wait longest, by means of a steady step.
struct Straggler {
  int rank = 0;
  double last = 0, collectives = 0;  // those it came last for, of how many
  Nanoseconds held_up, step;
};

// Likewise. Where ranks stand ready at the same time, it has held up nobody.
std::optional<Straggler> longest_waited_for(const Case& facts);

// Collectives of at least a mebibyte of a steady step, measured (of each the rank that came last, so that no
// waiting for others is in it; median over the steps) beside predicted.
struct CollectiveTimes {
  Nanoseconds measured, predicted;
  InstructionId slowest;  // that lost most
  Nanoseconds slowest_measured, slowest_predicted;
};

// Nothing where the run is of another plan, or there are no such collectives. The case must have a
// prediction.
std::optional<CollectiveTimes> collective_times(const Case& facts);

}  // namespace shardlab
