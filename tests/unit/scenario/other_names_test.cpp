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

TEST_CASE("what is known elsewhere is meant rather than what is spelt like it") {
  const std::string around =
      "model: {config: tiny-llama, sequence_length: 8}\ncluster: {device: cpu, ranks: 1}\n";
  const auto hint_of = [&](const std::string& setting) {
    const auto read = parse_scenario(around, "s.yaml", std::vector<std::string>{setting});
    return read ? std::string("none") : read.error().hint;
  };
  CHECK(hint_of("nodes=8") == "did you mean cluster.nodes?");  // and not model
  CHECK(hint_of("cluster.gpus=8") == "did you mean cluster.gpus_per_node or limits.gpus?");
  CHECK(hint_of("parallel.tp=8") == "did you mean parallel.mesh.tensor?");  // and not ddp
  CHECK(hint_of("bs=4") == "did you mean train.micro_batch?");
  CHECK(hint_of("gbs=64") == "did you mean train.accumulation or train.micro_batch?");
  CHECK(hint_of("train.ga=4") == "did you mean train.accumulation?");
  CHECK(hint_of("teacher.dtype=bfloat16") == "did you mean distillation.teacher?");
  CHECK(hint_of("parallel.pp=2").starts_with("known: strategy, mesh"));
  // What a student could be set to is no advice for its teacher.
  CHECK(hint_of("distillation={teacher: {config: tiny-llama, offload: cpu}}").starts_with("known: config, "));
  CHECK(hint_of("offload=cpu").starts_with("its keys: parameters, optimizer"));
  CHECK(hint_of("parallel.strategy=FULL_SHARD") == "did you mean fsdp1?");
  CHECK(hint_of("model.loss=chunked") == "for example model.loss: {kind: chunked, chunks: 8}");
}

TEST_CASE("another tool's word is known only where its meaning is") {
  CHECK(meant_word("bf16", {"float32", "bfloat16"}) == "bfloat16");
  CHECK(meant_word("AdamW", {"adamw", "sgd"}) == "adamw");
  CHECK(meant_word("true", {"none", "full"}) == "full");
  CHECK(meant_word("true", {"none", "blocks", "whole"}) == "whole");  // torch_compile: true
  CHECK(meant_word("flash_attention_3", {"flash", "flash3", "auto"}) == "flash3");
  CHECK(meant_word("sdpa", {"flash", "flash3", "auto"}) == "auto");
  CHECK(meant_word("true", {"mean", "sum"}).empty());
  CHECK(problem_of("precision: {param: bf16}") ==
        "s.yaml:1:20: precision.param: unknown dtype 'bf16' (did you mean 'bfloat16'?)");
}

}  // namespace shardlab
