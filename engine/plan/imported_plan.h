// Plans that were made of what a trace shows. They have what a profiler saw: an instruction that they lack
// may have run all the same, under another name or unseen.
#pragma once

#include "engine/plan/step_plan.h"

namespace shardlab {

// In place of the hash of a graph, which no trace has.
inline constexpr std::string_view k_imported_graph = "imported";

inline bool is_imported(const StepPlan& plan) {
  return plan.graph_hash == k_imported_graph;
}

}  // namespace shardlab
