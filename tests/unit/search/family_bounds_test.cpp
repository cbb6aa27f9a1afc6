#include <fmt/format.h>

#include "simulator/search/bounded_space.h"
#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

// Every combination's bounds against its simulation; how many there were.
int compare(const test::SearchFolder& folder, const std::string& vary,
            const CalibrationFor& calibration = {}) {
  const auto question = folder.question(vary);
  REQUIRE_OK(question);
  const auto space = SearchSpace::of(*question);
  REQUIRE_OK(space);
  ResultFile kept;
  Evaluator evaluator(question->base, calibration, kept);
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
    "  activation: [{}, {checkpoint: full}, {checkpoint: selective, operators: [linear]},\n"
    "    {checkpoint: full, offload: cpu}]\n"
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

TEST_CASE("bounds of a selective checkpoint lie between those of none and of a full one") {
  const test::SearchFolder folder(
      fmt::format("model: {{config: {}, sequence_length: 64, implementation: fused}}\n"
                  "cluster: {{gpu: H100-SXM, gpus_per_node: 1}}\nparallel: {{strategy: none}}\n"
                  "train: {{micro_batch: 64}}\n",
                  test::data_file("families/llama.json").string()));
  for (const char* operators : {"linear", "linear/2, attention", "swiglu"}) {
    INFO(operators);
    const std::string vary = fmt::format(
        "vary: {{activation: [{{}}, {{checkpoint: selective, operators: [{}]}}, {{checkpoint: full}}]}}\n",
        operators);
    CHECK(compare(folder, vary) == 3);
    const auto question = folder.question(vary);
    REQUIRE_OK(question);
    const auto space = SearchSpace::of(*question);
    REQUIRE_OK(space);
    ResultFile kept;
    Evaluator evaluator(question->base, {}, kept);
    const BoundedSpace bounded(*space, evaluator, "", 1);
    const LowerBounds &none = bounded.bounds_of(0), &selective = bounded.bounds_of(1),
                      &full = bounded.bounds_of(2);
    CHECK((none.step_ns < selective.step_ns && selective.step_ns < full.step_ns));
    CHECK((full.memory < selective.memory && selective.memory < none.memory));
  }
}

TEST_CASE("bounds of adapters, frozen parameters and processors stay below the simulation") {
  const std::string config = test::data_file("families/llama.json").string();
  for (const char* model : {"lora: {rank: 4, targets: [all-linear]}",
                            "dtype: bfloat16, quantized: nf4, lora: {rank: 4, targets: [all-linear]}",
                            "dtype: bfloat16, quantized: nf4_double, lora: {rank: 4, targets: [q_proj]}",
                            "frozen: ['model.layers.0.**']", "frozen: [model.embed_tokens]"}) {
    INFO(model);
    const test::SearchFolder folder(
        fmt::format("model: {{config: {}, sequence_length: 32, {}}}\ncluster: {{node: dgx-h100, nodes: 2}}\n"
                    "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                    config, model));
    CHECK(compare(folder,
                  "vary:\n  train.micro_batch: [1, 2, 4]\n  parallel.strategy: [fsdp1, fsdp2]\n"
                  "  activation.checkpoint: [none, full]\n") > 5);
  }
  // Weights and checkpoints that weigh more than what a step makes.
  const test::SearchFolder wide(
      fmt::format("model: {{config: {}, sequence_length: 2048, dtype: bfloat16, quantized: nf4,\n"
                  "  overrides: {{hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 24, "
                  "max_position_embeddings: 4096}},\n"
                  "  lora: {{rank: 4, targets: [q_proj]}}}}\n"
                  "cluster: {{node: dgx-h100, nodes: 1}}\n"
                  "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                  config));
  CHECK(compare(wide,
                "vary:\n  train.micro_batch: [1, 16]\n  parallel.strategy: [ddp, fsdp2]\n"
                "  activation: [{}, {checkpoint: full}, {checkpoint: full, offload: cpu}]\n") > 5);
  const test::SearchFolder processors(
      fmt::format("model: {{config: {}, sequence_length: 32}}\ncluster: {{device: cpu, ranks: 2}}\n"
                  "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                  config));
  CHECK(compare(processors,
                "vary:\n  train.micro_batch: [1, 2, 4]\n  parallel.strategy: [ddp, fsdp1, fsdp2]\n"
                "  activation.checkpoint: [none, full]\n  precision: [{}, {param: bfloat16}]\n") > 10);
}

// So few tokens that the wires are what takes the time; what is frozen need not cross them.
TEST_CASE("bounds of wires stay below the simulation where most parameters are frozen") {
  for (const char* frozen : {"lora: {rank: 4, targets: [all-linear]}", "frozen: ['model.layers.**']"}) {
    INFO(frozen);
    const test::SearchFolder folder(fmt::format(
        "model: {{config: {}, sequence_length: 8, {}, overrides: {{hidden_size: 4096,\n"
        "  intermediate_size: 16384, vocab_size: 1000}}}}\ncluster: {{node: dgx-h100, nodes: 4}}\n"
        "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 1}}\n",
        test::data_file("families/llama.json").string(), frozen));
    CHECK(
        compare(
            folder,
            "vary:\n  parallel: [{strategy: ddp}, {strategy: fsdp1}, {strategy: fsdp2}, {strategy: native},\n"
            "    {strategy: zero0}, {strategy: zero1}, {strategy: zero2}, {strategy: zero3},\n"
            "    {strategy: zero3, zero: {stage3_param_persistence_threshold: 0}}]\n") >= 7);
  }
}

// DeepSpeed casts the whole model, so that frozen parameters have no float32 masters.
TEST_CASE("bounds of frozen parameters stay below the simulation where the whole model is cast") {
  const test::SearchFolder folder(fmt::format(
      "model: {{config: {}, sequence_length: 32, lora: {{rank: 8, targets: [all-linear]}},\n"
      "  overrides: {{hidden_size: 1024, intermediate_size: 2816, vocab_size: 16000}}}}\n"
      "cluster: {{node: dgx-h100, nodes: 1}}\nparallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 1}}\n",
      test::data_file("families/llama.json").string()));
  CHECK(compare(folder,
                "vary:\n  parallel.strategy: [fsdp2, zero0, zero1, zero2, zero3]\n"
                "  precision: [{}, {param: bfloat16}]\n  train.optimizer: [adamw, sgd]\n") >= 16);
}

TEST_CASE("bounds of products in eight bits stay below the simulation") {
  const test::SearchFolder folder(fmt::format(
      "model: {{config: {}, sequence_length: 64, fp8: tensorwise, overrides: {{hidden_size: 4096,\n"
      "  intermediate_size: 16384, vocab_size: 1024}}}}\ncluster: {{node: dgx-h100, nodes: 1}}\n"
      "precision: {{param: bfloat16}}\nparallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 64}}\n",
      test::data_file("families/llama.json").string()));
  CHECK(compare(folder, "vary: {activation.checkpoint: [none, full]}\n") == 2);
}

// One in which products of weights, of inputs and single operators are faster than published.
Calibration fast_gpu() {
  Calibration calibration;
  calibration.machine.gpu = "H100-SXM";
  calibration.id = "fast";
  for (const char* probe :
       {"matmul.forward.float32", "matmul.input_gradient.float32", "matmul.weight_gradient.float32"})
    calibration.coefficients[std::string(probe) + ".rate"] = {probe[7] == 'w' ? 4e15 : 2e15, "FLOP/s"};
  calibration.coefficients["add.forward.float32.bandwidth"] = {9e12, "B/s"};
  calibration.coefficients["rms_norm.backward.float32.bandwidth"] = {2e11, "B/s"};
  for (const char* collective : {"all_gather", "reduce_scatter", "all_reduce"})
    calibration.coefficients[std::string(collective) + ".bandwidth"] = {3e12, "B/s"};
  calibration.probes.push_back({"all_gather", {{"bytes", 1 << 20}, {"ranks", 8}}, {}, 100, 200});
  calibration.probes.push_back({"matmul.forward.float32", {{"m", 64}, {"n", 48}, {"k", 48}}, {}, 100, 300});
  return calibration;
}

TEST_CASE("times that come from a calibration have bounds below the simulation") {
  const test::SearchFolder folder(
      fmt::format("model: {{config: {}, sequence_length: 32}}\ncluster: {{node: dgx-h100, nodes: 1}}\n"
                  "parallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 2, accumulation: 2}}\n",
                  test::data_file("families/llama.json").string()));
  const CalibrationFor fast = [](const Scenario&) -> Result<std::optional<Calibration>> {
    return fast_gpu();
  };
  CHECK(compare(folder, k_vary, fast) > 20);
  const test::SearchFolder wide(fmt::format(
      "model: {{config: {}, sequence_length: 8, overrides: {{hidden_size: 4096, vocab_size: 1000}}}}\n"
      "cluster: {{node: dgx-h100, nodes: 1}}\nparallel: {{strategy: fsdp2}}\ntrain: {{micro_batch: 64}}\n",
      test::data_file("families/llama.json").string()));
  CHECK(compare(wide,
                "vary: {train.micro_batch: [1, 64], parallel.strategy: [ddp, fsdp1, fsdp2, zero1, zero3]}\n",
                fast) == 10);
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
