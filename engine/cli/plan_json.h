// A plan as the JSON that docs/json.md describes under `plan`.
#pragma once

#include "engine/cli/console.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// `rank` decides which ranks stand in the groups of collectives.
Json plan_document(const PlannedScenario& planned, const StepPlan& step, int rank);

// The parts that `plan --units` prints too.
Json units_json(const PlannedScenario& planned, const StepPlan& step);
Json segments_json(const StepPlan& step);

}  // namespace shardlab
