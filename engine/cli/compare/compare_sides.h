// Two sides of a comparison, laid beside each other.
#pragma once

#include "engine/cli/compare/compared_side.h"
#include "engine/trace/comparison.h"

namespace shardlab {

// What was compared. A prediction and a measurement of one plan are judged, the prediction first; anything
// else only differs.
struct Compared {
  ComparedSide first, second;
  bool same_plan = false;
  bool judged = false;
  Comparison comparison;
};

// Errors of compare() and compare_summaries().
Result<Compared> compare_sides(ComparedSide first, ComparedSide second);

}  // namespace shardlab
