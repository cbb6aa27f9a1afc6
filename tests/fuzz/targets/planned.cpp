// A scenario up to the checked plans of its run, where these are small: a plan that fails its check is our
// own mistake.
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/model_spec.h"
#include "engine/scenario/read_scenario.h"
#include "tests/fuzz/promise.h"
#include "tests/fuzz/readers.h"

namespace shardlab::fuzz {

Answer read_and_plan(std::string_view bytes) {
  constexpr int k_most_ranks = 16, k_most_micro_batches = 4;
  const Result<Scenario> scenario = parse_scenario(bytes, "input.yaml");
  if (!scenario) return answer_of(scenario);
  const bool is_small = scenario->model->config == "tiny-llama" && scenario->model->overrides.empty() &&
                        world_size(*scenario) <= k_most_ranks &&
                        micro_batches_of_step(*scenario) <= k_most_micro_batches;
  return is_small ? answer_of(plan_scenario(*scenario)) : Answer::refused;
}

}  // namespace shardlab::fuzz
