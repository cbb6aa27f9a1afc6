#include "engine/scenario/validate.h"

#include "engine/scenario/complaints.h"
#include "engine/scenario/keys/sections.h"

namespace shardlab {

Status validate_scenario(const Scenario& scenario, const ScenarioSource& source) {
  Problems problems;
  Complaints complaints{scenario, source, problems};
  check_section(scenario_keys(), scenario, {}, source, problems);
  validate_model(complaints);
  validate_cluster(complaints);
  if (problems.empty()) validate_mesh(complaints);  // needs a number of ranks
  if (problems.empty()) validate_strategy(complaints);
  validate_parallel(complaints, "parallel", scenario.parallel);
  validate_training(complaints);
  validate_precision(complaints);
  validate_distillation(complaints);
  return problems.status();
}

}  // namespace shardlab
