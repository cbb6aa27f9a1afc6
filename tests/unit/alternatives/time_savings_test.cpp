#include "simulator/alternatives/time_savings.h"

#include <algorithm>

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/alternatives/predicted_scenario.h"

namespace shardlab {
namespace {

struct Predicted {
  RunSummary run;
  std::vector<TimeSaving> savings;
};

Predicted predict(const std::string& file, const std::vector<std::string>& settings = {}) {
  const auto scenario = read_scenario((test::source_folder() / file).string(), settings);
  test::PredictedScenario made = test::predicted_scenario(scenario);
  return {made.run, predict_time_savings(made.planned, made.run, nullptr).value()};
}

}  // namespace

TEST_CASE("our operators are a comparison behind all settings, however much they would buy") {
  const Predicted predicted = predict("scenarios/first/llama3-8b-fsdp2-8xh100.yaml");
  REQUIRE(predicted.savings.size() > 2);
  const TimeSaving& last = predicted.savings.back();
  CHECK(last.settings == std::vector<std::string>{"model.implementation=fused"});
  CHECK(last.tokens_per_second > predicted.savings.front().tokens_per_second);
  for (const TimeSaving& each : predicted.savings) CHECK(each.comparison == (&each == &last));
  CHECK(last.effect == "comparison: what kernels written for it would buy");
}

TEST_CASE("where bfloat16 has no matrix units float16 is the fastest setting") {
  const std::string file = "scenarios/first/llama3-8b-fsdp2-8xh100.yaml";
  const auto first_on = [&](const std::string& gpu) {
    return predict(file, {"cluster={gpu: " + gpu + ", gpus_per_node: 8}"}).savings.front().settings;
  };
  const std::vector<std::string> half = {"precision.param=float16"};
  CHECK(first_on("V100") == half);
  CHECK(first_on("T4") == half);
  CHECK(first_on("L4") != half);
}

// The tensors take less, and the blocks around them more.
TEST_CASE("where our operators would need more of the device it is said why") {
  const Predicted predicted = predict("scenarios/zero/zero3-never-releases.yaml");
  REQUIRE_FALSE(predicted.savings.empty());
  const TimeSaving& last = predicted.savings.back();
  REQUIRE(last.comparison);
  CHECK(last.peak > *predicted.run.memory->peak_device);
  CHECK_THAT(last.effect, test::contains_text("; more memory: gaps between blocks +"));
  CHECK_THAT(last.effect, test::contains_text(", tensors -"));
}

TEST_CASE("half as many micro-batches are tried down to one, whatever reduces between them") {
  const Predicted predicted =
      predict("scenarios/first/llama3-8b-fsdp2-8xh100.yaml", {"train.accumulation=2", "train.sync=every"});
  const std::vector<std::string> one = {"train.micro_batch=2", "train.accumulation=1", "train.sync=last"};
  CHECK(std::any_of(predicted.savings.begin(), predicted.savings.end(),
                    [&](const TimeSaving& each) { return each.settings == one; }));
}

}  // namespace shardlab
