// Hints for those who write what another tool would read.
#include "engine/scenario/keys/other_names.h"

#include <algorithm>

#include "engine/base/words.h"
#include "engine/scenario/keys/sections.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

std::string problem_of(const std::string& yaml) {
  const auto scenario = parse_scenario(yaml, "s.yaml");
  return scenario ? "none" : to_string(scenario.error());
}

}  // namespace

TEST_CASE("every name of another tool leads to a key or a section that exists") {
  std::vector<KeyLine> lines;
  describe_section(scenario_keys(), {}, lines);
  CHECK(other_key_names().size() > 50);
  for (const OtherName& each : other_key_names()) {
    CAPTURE(each.theirs, each.ours);
    const std::string ours(each.ours);
    CHECK(std::any_of(lines.begin(), lines.end(), [&](const KeyLine& line) {
      return line.path == ours || line.path.starts_with(ours + ".");
    }));
  }
}

TEST_CASE("a key at the wrong place is pointed to its own") {
  CHECK(problem_of("lora: {rank: 8}") == "s.yaml:1:1: unknown key 'lora' (did you mean model.lora?)");
  CHECK(problem_of("train: {sequence_length: 8}") ==
        "s.yaml:1:9: train: unknown key 'sequence_length' (did you mean model.sequence_length?)");
  CHECK(meant_keys("optimizer") == std::vector<std::string>{"offload.optimizer", "train.optimizer"});
}

TEST_CASE("another tool's name of a key is known, a misspelt name of the section goes first") {
  CHECK(meant_keys("per_device_train_batch_size") == std::vector<std::string>{"train.micro_batch"});
  CHECK(meant_keys("Gradient-Checkpointing") == std::vector<std::string>{"activation.checkpoint"});
  CHECK(meant_keys("colour").empty());
  CHECK(problem_of("train: {acumulation: 8}") ==
        "s.yaml:1:9: train: unknown key 'acumulation' (did you mean 'accumulation'?)");
}

TEST_CASE("another tool's word is known only where its meaning is") {
  CHECK(meant_word("bf16", {"float32", "bfloat16"}) == "bfloat16");
  CHECK(meant_word("AdamW", {"adamw", "sgd"}) == "adamw");
  CHECK(meant_word("true", {"none", "full"}) == "full");
  CHECK(meant_word("true", {"mean", "sum"}).empty());
  CHECK(problem_of("precision: {param: bf16}") ==
        "s.yaml:1:20: precision.param: unknown dtype 'bf16' (did you mean 'bfloat16'?)");
}

}  // namespace shardlab
