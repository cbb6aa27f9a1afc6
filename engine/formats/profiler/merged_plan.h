// One plan for the steps of several ranks, and the place of each step's work in it. Private to this folder.
#pragma once

#include <vector>

#include "engine/formats/profiler/profiled_steps.h"
#include "engine/plan/step_plan.h"

namespace shardlab {

struct MergedPlan {
  StepPlan plan;
  // The instruction of each work, by rank, step and the order of ProfiledStep::work.
  std::vector<std::vector<std::vector<InstructionId>>> instructions;
};

MergedPlan merge_plans(const std::vector<ProfiledRank>& ranks, int world_size);

}  // namespace shardlab
