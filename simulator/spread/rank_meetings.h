// Which ranks of a scenario wait for each other in the groups of its plan.
#pragma once

#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"
#include "simulator/core/rank_timelines.h"

namespace shardlab {

// By group of the plan. `ranks`: those of the scenario.
std::vector<GroupMeetings> meetings_of(const StepPlan& plan, const Scenario& scenario, int ranks);

}  // namespace shardlab
