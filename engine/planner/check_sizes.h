// Whether the sizes of a model and its batches can be counted.
//
// Everything behind this is integers of 64 bits: bytes, FLOPs, tokens. Each key of a scenario may be as large
// as its range says, several of them together not: what they multiply to is bounded here, in floating point,
// before plans and predictions multiply it. What passes never comes near the largest integer.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// bad_input at the setting that is largest, with the number that is too large. Pure, and no work beside a
// plan.
Status check_sizes(const Scenario& scenario, const ModelGraph& graph);

}  // namespace shardlab
