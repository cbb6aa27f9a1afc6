// No setting is ignored silently: every key of docs/scenario.md, changed to another legal value, changes the
// plan, the prediction or a real run, or a message says why not (tests/data/plans/every_key.txt).
#include <regex>
#include <set>

#include <fmt/format.h>

#include "engine/plan/text.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/plans/key_cases.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

struct Outcome {
  Scenario scenario;
  RunPlan plan;
  std::vector<StepTrace> steps;
  std::vector<OperatorTime> operators;
};

Result<Outcome> outcome_of(const std::vector<std::string>& settings) {
  Outcome outcome;
  SHARDLAB_TRY(outcome.scenario, parse_small_llama(settings));
  SHARDLAB_TRY(const PlannedScenario planned, plan_scenario(outcome.scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*outcome.scenario.cluster));
  SHARDLAB_TRY(RunTrace trace, simulate({planned, device}));
  outcome.plan = planned.plan;
  outcome.steps = std::move(trace.warmup);
  outcome.steps.insert(outcome.steps.end(), trace.steps.begin(), trace.steps.end());
  outcome.operators = std::move(trace.operators);
  return outcome;
}

bool plans_differ(const Outcome& a, const Outcome& b) {
  const auto texts = [](const RunPlan& plan) {
    std::string all;
    for (const StepPlan* step : plan.all()) all += to_text(*step);
    return all;
  };
  return texts(a.plan) != texts(b.plan) || a.steps != b.steps || a.operators != b.operators;
}

std::set<std::string> keys_of_the_reference() {
  std::set<std::string> keys;
  const std::string text = scenario_reference();
  const std::regex row("\n\\| `([^`]+)` \\|");
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) keys.insert((*it)[1]);
  return keys;
}

}  // namespace

TEST_CASE("every key of a scenario is on the list of settings with an effect") {
  std::set<std::string> listed;
  for (const KeyCase& line : key_cases()) listed.insert(line.key);
  const std::set<std::string> keys = keys_of_the_reference();
  CHECK(keys.size() > 150);
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(listed.count(key) == 1);
  }
  for (const std::string& key : listed) {
    INFO(key);
    CHECK(keys.count(key) == 1);
  }
}

TEST_CASE("every setting has an effect, or a message says why not") {
  for (const KeyCase& line : key_cases()) {
    INFO(line.key << " by " << line.changed.back());
    const Result<Outcome> before = outcome_of(line.settings);
    REQUIRE_OK(before);
    const Result<Outcome> after = outcome_of(line.changed);
    if (line.effect == "refused") {
      CHECK_FALSE(after.has_value());
      if (!after) CHECK_THAT(to_string(after.error()), contains_text(line.words));
      continue;
    }
    if (!after) FAIL_CHECK(to_string(after.error()));
    if (!after) continue;
    CHECK_FALSE(before->scenario == after->scenario);
    const bool only_later = line.effect == "run" || line.effect == "text" || line.effect == "predicted";
    CHECK((only_later || line.effect == "planned"));
    CHECK((only_later || plans_differ(*before, *after)));
  }
}

}  // namespace shardlab::test
