// The same global batch in other micro-batches: settings that the scenario allows.
#include "engine/doctor/job/batch_settings.h"

#include "engine/scenario/read_scenario.h"
#include "engine/scenario/scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

using Levels = std::vector<std::vector<std::string>>;

const std::string k_text =
    "model: {config: gpt2, sequence_length: 64}\ncluster: {node: hgx-h100}\n"
    "parallel: {strategy: fsdp2}\n";

Scenario scenario_with(const std::string& train) {
  const auto read = parse_scenario(k_text + "train: " + train + "\n", "s.yaml");
  REQUIRE_OK(read);
  return *read;
}

void require_allowed(const Scenario& scenario, const Levels& levels) {
  for (const std::vector<std::string>& settings : levels)
    REQUIRE_OK(parse_scenario(write_scenario(scenario), "s.yaml", settings));
}

}  // namespace

TEST_CASE("larger micro-batches go down to one, which reduces its gradients anyway") {
  const Scenario scenario = scenario_with("{micro_batch: 1, accumulation: 4, sync: every}");
  const Levels levels = larger_micro_batches(scenario);
  CHECK(levels == Levels{{"train.micro_batch=2", "train.accumulation=2"},
                         {"train.micro_batch=4", "train.accumulation=1", "train.sync=last"}});
  require_allowed(scenario, levels);
  const Scenario kept = scenario_with("{micro_batch: 1, accumulation: 2}");
  CHECK(larger_micro_batches(kept) == Levels{{"train.micro_batch=2", "train.accumulation=1"}});
  require_allowed(kept, larger_micro_batches(kept));
}

TEST_CASE("smaller micro-batches are tried with gradients reduced in each, too") {
  const Scenario scenario = scenario_with("{micro_batch: 2, accumulation: 1}");
  const Levels levels = smaller_micro_batches(scenario);
  CHECK(levels == Levels{{"train.micro_batch=1", "train.accumulation=2"},
                         {"train.micro_batch=1", "train.accumulation=2", "train.sync=every"}});
  require_allowed(scenario, levels);
}

}  // namespace shardlab
