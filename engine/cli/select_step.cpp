#include "engine/cli/select_step.h"

#include <algorithm>
#include <vector>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"

namespace shardlab {

Result<const StepPlan*> select_step(const RunPlan& plan, const std::string& step) {
  // A second step is asked for by its number, as not every run has one of its own.
  const std::vector<PlanPhase> named = {PlanPhase::setup, PlanPhase::first, PlanPhase::steady};
  const auto phase = parse_word<PlanPhase>(step);
  if (phase && std::find(named.begin(), named.end(), *phase) != named.end()) return plan.find(*phase);
  const auto number = parse_integer(step);
  if (number && *number >= 0) return &plan.step(*number);
  return bad_input("--step", "no step '" + step + "'",
                   suggestion(step, words_of(named)) + " or a number from 0");
}

}  // namespace shardlab
