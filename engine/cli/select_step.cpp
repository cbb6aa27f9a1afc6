#include "engine/cli/select_step.h"

#include <vector>

#include "engine/base/nearest.h"
#include "engine/base/parse.h"

namespace shardlab {

Result<const StepPlan*> select_step(const RunPlan& plan, const std::string& step) {
  if (step == "setup") return &plan.setup;
  if (step == "first") return &plan.first;
  if (step == "steady") return &plan.steady;
  const auto number = parse_integer(step);
  if (number && *number >= 0) return &plan.step(*number);
  const std::vector<std::string> known = {"setup", "first", "steady"};
  return bad_input("--step", "no step '" + step + "'", suggestion(step, known) + " or a number from 0");
}

}  // namespace shardlab
