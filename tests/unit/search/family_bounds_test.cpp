#include <fmt/format.h>

#include "simulator/search/bounded_space.h"
#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

// Every combination's bounds against its simulation; how many there were.
int compare(const test::SearchFolder& folder, const std::string& vary) {
  const auto question = folder.question(vary);
  REQUIRE_OK(question);
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  ResultFile kept;
  Evaluator evaluator(question->base, {}, kept);
  const BoundedSpace bounded(*space, evaluator, "", 1);
  int compared = 0;
  for (std::uint64_t index = 0; index < space->size(); ++index) {
    const Configuration configuration = space->at(index);
    if (!configuration.divides) continue;
    const auto outcome = evaluator.evaluate(configuration.settings);
    REQUIRE_OK(outcome);
    INFO(fmt::format("{} {}", fmt::join(configuration.settings, " "), outcome->refused));
    if (!outcome->refused.empty()) continue;
    const LowerBounds& bounds = bounded.bounds_of(index);
    CHECK(bounds.step_ns > 0);
    CHECK(bounds.step_ns <= static_cast<double>(outcome->figures.step_time.value));
    CHECK(bounds.memory <= outcome->figures.peak_allocated);
    const Candidate candidate = candidate_of(*question, configuration, outcome->figures);
    CHECK(bounds.costs.time <= candidate.costs.time);
    ++compared;
  }
  return compared;
}

constexpr const char* k_vary =
    "keep: {global_batch: 64}\n"
    "vary:\n"
    "  train.micro_batch: [2, 8]\n"
    "  parallel.strategy: [ddp, fsdp1, fsdp2, native, zero1, zero2, zero3]\n"
    "  precision: [{}, {param: bfloat16, reduce: float32}]\n"
    "  activation: [{}, {checkpoint: full}, {checkpoint: selective, operators: [linear]}]\n"
    "  train.sync: [last, every]\n";

}  // namespace

TEST_CASE("bounds of every family stay below its simulation") {
  for (const auto& entry : std::filesystem::directory_iterator(test::data_file("families"))) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path());
    const test::SearchFolder folder(
        fmt::format("model: {{config: {}, sequence_length: 32}}\ncluster: {{node: dgx-h100, nodes: 1}}\n"
                    "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                    entry.path().string()));
    CHECK(compare(folder, k_vary) > 20);
  }
}

TEST_CASE("bounds of adapters, frozen parameters and processors stay below the simulation") {
  const std::string config = test::data_file("families/llama.json").string();
  for (const char* model : {"lora: {rank: 4, targets: [all-linear]}", "frozen: ['model.layers.0.**']",
                            "frozen: [model.embed_tokens]"}) {
    INFO(model);
    const test::SearchFolder folder(
        fmt::format("model: {{config: {}, sequence_length: 32, {}}}\ncluster: {{node: dgx-h100, nodes: 2}}\n"
                    "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                    config, model));
    CHECK(compare(folder,
                  "vary:\n  train.micro_batch: [1, 2, 4]\n  parallel.strategy: [fsdp1, fsdp2]\n"
                  "  activation.checkpoint: [none, full]\n") > 5);
  }
  const test::SearchFolder processors(
      fmt::format("model: {{config: {}, sequence_length: 32}}\ncluster: {{device: cpu, ranks: 2}}\n"
                  "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                  config));
  CHECK(compare(processors,
                "vary:\n  train.micro_batch: [1, 2, 4]\n  parallel.strategy: [ddp, fsdp1, fsdp2]\n"
                "  activation.checkpoint: [none, full]\n  precision: [{}, {param: bfloat16}]\n") > 10);
}

TEST_CASE("bounds of stages that reduce every micro-batch stay below the simulation") {
  const test::SearchFolder folder(
      fmt::format("model: {{config: {}, sequence_length: 8}}\ncluster: {{node: dgx-h100, nodes: 1}}\n"
                  "precision: {{param: bfloat16}}\ntrain: {{micro_batch: 1, accumulation: 4}}\n"
                  "parallel: {{strategy: fsdp2}}\n",
                  test::data_file("families/llama.json").string()));
  CHECK(compare(folder,
                "vary:\n  train.accumulation: [1, 4]\n  activation.checkpoint: [none, full]\n"
                "  parallel: [{strategy: zero2, zero: {reduce_bucket_size: 5000}}, {strategy: zero3, zero: "
                "{reduce_bucket_size: 5000,\n    stage3_param_persistence_threshold: 0, "
                "stage3_max_reuse_distance: 0, stage3_prefetch_bucket_size: 0}}]\n") == 8);
}

TEST_CASE("bounds with state in host memory stay below the simulation") {
  const test::SearchFolder folder(
      fmt::format("model: {{config: {}, sequence_length: 32}}\ncluster: {{node: dgx-h100, nodes: 1}}\n"
                  "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                  test::data_file("families/llama.json").string()));
  CHECK(compare(folder,
                "vary:\n  train.micro_batch: [1, 4]\n  parallel.strategy: [fsdp1, fsdp2]\n"
                "  offload: [{}, {parameters: cpu}]\n  activation.checkpoint: [none, full]\n"
                "  precision: [{}, {param: bfloat16}]\n") == 32);
}

TEST_CASE("bounds of a mesh of replicas and of sub-meshes stay below the simulation") {
  const test::SearchFolder folder;
  CHECK(compare(folder,
                "vary:\n  train.micro_batch: [1, 2]\n  parallel: [{strategy: fsdp2, mesh: {replicate: 2}},\n"
                "    {strategy: fsdp2, reshard_after_forward: 4}, {strategy: fsdp1, sharding: hybrid_shard, "
                "mesh: {replicate: 2}},\n"
                "    {strategy: fsdp2, wrap: {policy: none}}, {strategy: fsdp1, sharding: no_shard},\n"
                "    {strategy: fsdp2, wrap: {overrides: [{match: {path: '**.h.0'}, settings: "
                "{precision.param: bfloat16}}]}}]\n") >= 10);
}

}  // namespace shardlab
