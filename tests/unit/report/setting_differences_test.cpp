#include "engine/report/setting_differences.h"

#include "engine/report/changed_settings.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr const char* k_first = R"(name: one
model: {config: tiny-llama, sequence_length: 64}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, accumulation: 1}
)";

}  // namespace

TEST_CASE("two scenarios differ in what either says, a default counts as said") {
  constexpr const char* k_second = R"(name: another
model: {config: tiny-llama, sequence_length: 64}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: ddp}
train: {micro_batch: 2, clip_norm: 1.0}
)";
  const auto found = setting_differences({k_first, "one.yaml"}, {k_second, "another.yaml"}).value();
  REQUIRE(found.size() == 2);
  CHECK(found[0].key == "parallel.strategy");
  CHECK(found[0].first == "fsdp2");
  CHECK(found[0].second == "ddp");
  CHECK(found[1].key == "train.clip_norm");
  CHECK(found[1].second == "1");
}

TEST_CASE("words that stand for a default are no value") {
  const std::string sharded = std::string(k_first).replace(std::string(k_first).find("{strategy: fsdp2}"), 17,
                                                           "{strategy: fsdp2, mesh: {shard: 2}}");
  const auto found = setting_differences({k_first, "one.yaml"}, {sharded, "another.yaml"}).value();
  REQUIRE(found.size() == 1);
  CHECK(found[0].key == "parallel.mesh.shard");
  CHECK(found[0].first == "not given");
  CHECK(found[0].second == "2");
  const std::string in_lines =
      std::string(k_first).replace(std::string(k_first).find("accumulation: 1"), 15, "betas: [0.9, 0.99]");
  const auto listed = setting_differences({k_first, "one.yaml"}, {in_lines, "another.yaml"}).value();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].first == "[0.9, 0.999]");  // a value, though it has a blank
}

TEST_CASE("what is no scenario differs in nothing that is known") {
  CHECK(setting_differences({k_first, "one"}, {"", "trace"}).value().empty());
  CHECK(setting_differences({k_first, "one"}, {k_first, "other"}).value().empty());
}

TEST_CASE("a run of a list is compared with the next older one of its name") {
  const std::string every = std::string(k_first) + "measure: {steps: 5}\n";
  const std::vector<ScenarioText> runs = {{k_first, "one"}, {"", "two"}, {every, "one"}, {k_first, "one"}};
  const std::vector<ChangedSettings> changed = changed_settings(runs);
  REQUIRE(changed.size() == 4);
  CHECK(changed_text(changed[2], true) == "measure.steps=5");
  CHECK(changed_text(changed[0], false).starts_with("steps="));
  CHECK(changed[1].empty());
  CHECK(changed[3].empty());
}

}  // namespace shardlab
