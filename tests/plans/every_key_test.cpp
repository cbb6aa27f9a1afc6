// No setting is ignored silently: every key of docs/scenario.md, changed to another legal value, changes what
// its line of tests/data/plans/every_key.txt says: the plan, the prediction, what a rank of a real run obeys,
// or a message that says why not.
#include <regex>
#include <set>

#include <fmt/format.h>

#include "engine/plan/text.h"
#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/plans/key_cases.h"
#include "tests/plans/plan_cases.h"
#include "tests/plans/rank_view.h"

namespace shardlab::test {
namespace {

struct Outcome {
  PlannedScenario planned;
  RunTrace trace;
  RunSummary summary;
};

Result<Outcome> outcome_of(const std::vector<std::string>& settings) {
  Outcome outcome;
  SHARDLAB_TRY(const Scenario scenario, parse_small_llama(settings));
  SHARDLAB_TRY(outcome.planned, plan_scenario(scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*scenario.cluster));
  SHARDLAB_TRY(outcome.trace, simulate({outcome.planned, device}));
  const DeviceLimits limits{device.peak(outcome.planned.graph.compute_dtype), device.memory,
                            device.host_memory};
  SHARDLAB_TRY(outcome.summary, summarize(outcome.planned, outcome.trace, limits));
  return outcome;
}

// The plan, or what its prediction says of every instruction.
bool is_planned_otherwise(const Outcome& a, const Outcome& b) {
  const auto texts = [](const Outcome& outcome) {
    std::string all;
    for (const StepPlan* step : outcome.planned.plan.all()) all += to_text(*step);
    return all;
  };
  return texts(a) != texts(b) || a.trace.warmup != b.trace.warmup || a.trace.steps != b.trace.steps ||
         a.trace.operators != b.trace.operators;
}

// What the job holds beside its steps, and whether that fits.
bool is_predicted_otherwise(const Outcome& a, const Outcome& b) {
  return a.trace.life != b.trace.life || a.trace.overheads != b.trace.overheads ||
         a.trace.fit != b.trace.fit || a.summary.memory_limit != b.summary.memory_limit ||
         a.summary.fits != b.summary.fits;
}

void check_effect(const KeyCase& line, const Outcome& before, const Outcome& after) {
  if (line.effect == "planned") {
    CHECK(is_planned_otherwise(before, after));
  } else if (line.effect == "predicted") {
    CHECK(is_predicted_otherwise(before, after));
  } else if (line.effect == "run") {
    CHECK(what_a_rank_obeys(line.key, before.planned) != what_a_rank_obeys(line.key, after.planned));
  } else if (line.effect == "text") {
    CHECK(write_scenario(before.planned.scenario) != write_scenario(after.planned.scenario));
  } else {
    CHECK(line.effect == "libtorch");  // tests/unit/execute/torch/executor/optimizer_settings_test.cpp
  }
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
    CHECK_FALSE(before->planned.scenario == after->planned.scenario);
    check_effect(line, *before, *after);
  }
}

}  // namespace shardlab::test
