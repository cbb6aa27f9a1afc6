#include "engine/scenario/apply_settings.h"

#include <string>
#include <vector>

#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

constexpr std::string_view k_text = R"(# what we train
model: {config: llama-3-8b, sequence_length: 4096}  # the long one
cluster: {node: hgx-h100}
parallel:
  strategy: fsdp2
  reshard_after_forward: default
train: {micro_batch: 8}
)";

std::string applied(const std::vector<std::string>& settings) {
  return apply_settings(k_text, "s.yaml", settings).value();
}

Scenario read(const std::string& text, const std::vector<std::string>& settings = {}) {
  return parse_scenario(text, "s.yaml", settings).value();
}

}  // namespace

TEST_CASE("settings are made where they stand, and comments stay") {
  const std::vector<std::string> settings = {"train.micro_batch=2", "train.accumulation=4",
                                             "parallel.wrap={policy: transformer}"};
  const std::string text = applied(settings);
  CHECK_THAT(text, test::contains_text("# the long one"));
  CHECK_THAT(text, test::contains_text("train: {micro_batch: 2, accumulation: 4}"));
  CHECK(read(text) == read(std::string(k_text), settings));
}

TEST_CASE("settings that mean something only together are made together") {
  const std::vector<std::string> settings = {"parallel.strategy=ddp", "train.accumulation=2"};
  CHECK(read(applied(settings)) == read(std::string(k_text), settings));
}

TEST_CASE("settings that the scenario does not allow are an error and change nothing") {
  CHECK_FALSE(apply_settings(k_text, "s.yaml", std::vector<std::string>{"train.micro_batch=0"}));
  CHECK_FALSE(apply_settings(k_text, "s.yaml", std::vector<std::string>{"no.such.key=1"}));
  CHECK_FALSE(apply_settings(k_text, "s.yaml", std::vector<std::string>{"no setting"}));
  CHECK_FALSE(apply_settings("model: [", "s.yaml", std::vector<std::string>{"train.micro_batch=1"}));
}

}  // namespace shardlab
