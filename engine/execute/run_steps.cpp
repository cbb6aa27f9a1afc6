#include "engine/execute/run_steps.h"

#include <algorithm>

#include "engine/scenario/run_spec.h"

namespace shardlab {

std::int64_t steps_of_run(const Scenario& scenario) {
  return std::int64_t{scenario.measure->warmup_steps} + scenario.measure->steps;
}

std::int64_t warmup_steps(const PlannedScenario& planned) {
  return std::max<std::int64_t>(planned.scenario.measure->warmup_steps, planned.plan.first_steady_step());
}

}  // namespace shardlab
