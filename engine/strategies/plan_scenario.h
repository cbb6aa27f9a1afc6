// From a scenario to the plans of its run: model graph, units, segments, strategy, generic passes, check.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab {

// The plan of the steady step as it stood after one pass of its construction (`plan --after-each-pass`).
struct PassSnapshot {
  std::string pass;
  StepPlan plan;
};

// Reads the model's configuration, builds and checks all plans of the run. `snapshots` may be null.
Result<PlannedScenario> plan_scenario(const Scenario& scenario,
                                      std::vector<PassSnapshot>* snapshots = nullptr);

// The parts, for those who need only one: the path of config.json that `model.config` names, and the graph.
Result<ModelGraph> load_model_graph(const Scenario& scenario);

}  // namespace shardlab
