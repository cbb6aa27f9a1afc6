// Ranks with a scenario of their own each: whether they agree, and that all hear the same.
#include "engine/execute/meeting/agree_on_settings.h"

#include <thread>
#include <vector>

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/execute/watch/values_in_memory.h"

namespace shardlab {
namespace {

using namespace std::chrono_literals;
using test::contains_text;

const std::string k_text = R"(
name: a
model: {config: tiny-llama, sequence_length: 32, overrides: {num_hidden_layers: 2}}
cluster: {device: cpu, ranks: 3, threads_per_rank: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, learning_rate: 1e-3, data: [assets/data/licenses.txt]}
measure: {steps: 3, tolerance: {step_time: 10%}}
launch: {timeout: 5s}
)";

// In normal form, as a launcher writes it into a job.
std::string scenario_with(const std::vector<std::string>& settings) {
  const auto scenario = parse_scenario(k_text, (test::source_folder() / "scenario.yaml").string(), settings);
  REQUIRE_OK(scenario);
  return write_scenario(*scenario);
}

std::vector<Status> meet(const std::vector<std::string>& scenarios) {
  test::ValuesInMemory values;
  std::vector<Status> heard(scenarios.size());
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < scenarios.size(); ++rank) {
    ranks.emplace_back([&, rank] {
      heard[rank] = agree_on_settings(values, static_cast<int>(rank), static_cast<int>(scenarios.size()),
                                      scenarios[rank], 10s);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  return heard;
}

// What all ranks hear of one that was started with those settings besides; empty where they agree.
std::string told(const std::vector<std::string>& settings) {
  const std::string usual = scenario_with({});
  const std::vector<Status> heard = meet({usual, usual, scenario_with(settings)});
  for (const Status& each : heard) {
    REQUIRE(each.has_value() == heard.front().has_value());
    if (each) continue;
    CHECK(each.error() == heard.front().error());
    CHECK(each.error().kind == ErrorKind::run_failed);
    CHECK_THAT(each.error().hint, contains_text("the same scenario"));
  }
  return heard.front() ? "" : heard.front().error().what;
}

}  // namespace

TEST_CASE("agreement: what decides the training is compared, and named") {
  CHECK(told({}).empty());
  CHECK(told({"train.learning_rate=2e-3"}) ==
        "rank 2 has other settings than rank 0: train.learning_rate is 0.002, not the default");
  CHECK_THAT(told({"train.seed=7"}), contains_text("train.seed is 7, not the default"));
  CHECK_THAT(told({"measure.steps=4"}), contains_text("measure.steps is 4, not 3"));
  CHECK_THAT(told({"model.overrides.rms_norm_eps=0.5"}),
             contains_text("model.overrides.rms_norm_eps is 0.5"));
  CHECK_THAT(told({"train.data=[assets/data/other.txt]"}), contains_text("train.data is"));
  CHECK_THAT(told({"train.betas=[0.8, 0.9]", "train.epsilon=1e-3", "train.weight_decay=0.5", "train.seed=7",
                   "train.clip_norm=1", "train.schedule.warmup_steps=9", "measure.warmup_steps=1"}),
             contains_text("; and 2 more"));
}

TEST_CASE("agreement: what names a run, or may differ from machine to machine, is not compared") {
  CHECK(told({"name=b", "description=of rank 2", "tags=[x]"}).empty());
  CHECK(told({"cluster.threads_per_rank=4", "launch.interface=lo", "launch.timeout=9s"}).empty());
  CHECK(told({"measure.tolerance={step_time: 50%}"}).empty());
  CHECK(told({"train.data=[/elsewhere/licenses.txt]"}).empty());
}

TEST_CASE("agreement: one rank has nobody to agree with, and who is not heard of is told") {
  test::ValuesInMemory values;
  CHECK(agree_on_settings(values, 0, 1, scenario_with({}), 10s));
  const Status alone = agree_on_settings(values, 0, 2, scenario_with({}), 20ms);
  REQUIRE_FALSE(alone);
  CHECK(alone.error().kind == ErrorKind::run_failed);
  test::ValuesInMemory others;
  CHECK_FALSE(agree_on_settings(others, 1, 2, scenario_with({}), 20ms));
}

}  // namespace shardlab
