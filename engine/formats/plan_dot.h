// A plan as a graph for Graphviz: a column per stream, an edge per wait.
#pragma once

#include <string>

#include "engine/plan/step_plan.h"

namespace shardlab {

// DOT text. `shardlab plan S --dot | dot -Tsvg > plan.svg` draws it.
std::string plan_dot(const StepPlan& plan);

}  // namespace shardlab
