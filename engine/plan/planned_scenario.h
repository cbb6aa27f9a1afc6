// A scenario with everything that was derived from it: what both executors are given.
#pragma once

#include "engine/model/model_graph.h"
#include "engine/model/partition.h"
#include "engine/plan/step_plan.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct PlannedScenario {
  Scenario scenario;
  ModelGraph graph;
  Partition partition;
  RunPlan plan;

  // Out of line: many hand it on, and few look into all of it.
  PlannedScenario();
  PlannedScenario(const PlannedScenario&);
  PlannedScenario(PlannedScenario&&) noexcept;
  PlannedScenario& operator=(const PlannedScenario&);
  PlannedScenario& operator=(PlannedScenario&&) noexcept;
  ~PlannedScenario();
};

}  // namespace shardlab
