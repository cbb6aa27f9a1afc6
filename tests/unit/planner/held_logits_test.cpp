// model.loss.held_logits: how long what the program holds is alive; model.loss.upcast: what the loss keeps.
#include <algorithm>
#include <optional>
#include <string>

#include "engine/model/operators/operator_type.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Result<PlannedScenario> planned(const std::string& loss) {
  const auto scenario = parse_scenario(
      "model: {config: llama-3-8b, sequence_length: 64, overrides: {num_hidden_layers: 2}, loss: {" + loss +
          "}}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\nprecision: {param: bfloat16}\n"
          "train: {micro_batch: 2, accumulation: 2}\n",
      "a.yaml");
  REQUIRE_OK(scenario);
  return plan_scenario(*scenario);
}

}  // namespace

TEST_CASE("logits that the program holds are alive in a micro-batch's backward") {
  const auto made = planned("held_logits: float32");
  REQUIRE_OK(made);
  const StepPlan& plan = made->plan.steady;
  std::string kinds;  // of instructions while they are held, and where they come and go
  std::optional<BufferId> held;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind == InstructionKind::Alloc) {
      held = instruction.allocates.at(0);
      CHECK(plan.buffer(*held).bytes() == Bytes{2 * 64 * 128'256 * 4});
      kinds += '+';
    }
    if (held && instruction.kind == InstructionKind::Forward) kinds += 'F';
    if (held && instruction.kind == InstructionKind::Backward) kinds += 'B';
    if (!held ||
        std::find(instruction.frees.begin(), instruction.frees.end(), *held) == instruction.frees.end())
      continue;
    held.reset();
    kinds += '-';
  }
  // Two micro-batches, each with norm and head, two layers, the embedding.
  CHECK(kinds == "+BBBB-+BBBB-");
}

TEST_CASE("nobody holds logits unless a scenario says so, and what has none refuses it") {
  const auto without = planned("kind: plain");
  REQUIRE_OK(without);
  for (const Buffer& buffer : without->plan.steady.buffers)
    CHECK_FALSE(buffer.name.starts_with("act.held_logits"));
  const auto refusal = [](const std::string& loss) {
    const auto scenario = parse_scenario(
        "model: {config: llama-3-8b, sequence_length: 64, loss: {" + loss + "}}\ncluster: {node: hgx-h100}\n",
        "a.yaml");
    REQUIRE_FALSE(scenario.has_value());
    return to_string(scenario.error());
  };
  CHECK_THAT(refusal("held_logits: bfloat16, fused: true"), test::contains_text("over the logits"));
  CHECK_THAT(refusal("held_logits: bfloat16, kind: chunked, chunks: 2"), test::contains_text("held_logits"));
}

TEST_CASE("a loss of the logits as they are keeps its logarithms in their dtype") {
  const auto kept = [](const std::string& loss) {
    const auto made = planned(loss);
    REQUIRE_OK(made);
    Bytes bytes;
    for (const Operator& op : made->graph.operators) {
      for (const ExtraTensor& extra : describe_operator(made->graph, op).extras)
        if (extra.label == "log_probabilities") bytes = bytes_of(element_count(extra.shape), extra.dtype);
    }
    return bytes;
  };
  CHECK(kept("kind: plain") == Bytes{2 * 64 * 128'256 * 4});
  CHECK(kept("upcast: false") == Bytes{2 * 64 * 128'256 * 2});
  const auto refusal = [](const std::string& model, const std::string& more) {
    const auto scenario =
        parse_scenario("model: {config: llama-3-8b, sequence_length: 64, " + model +
                           "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n" + more,
                       "a.yaml");
    if (!scenario) return to_string(scenario.error());
    const auto plan = plan_scenario(*scenario);
    return plan ? std::string() : to_string(plan.error());
  };
  const std::string lower = "precision: {autocast: bfloat16}\n";
  CHECK_THAT(refusal("loss: {upcast: false, fused: true}", ""), test::contains_text("one kernel"));
  CHECK_THAT(refusal("loss: {upcast: false}, compile: whole", ""), test::contains_text("one kernel"));
  CHECK_THAT(refusal("loss: {upcast: false}", lower), test::contains_text("torch.autocast computes"));
  CHECK_THAT(refusal("loss: {upcast: false}, implementation: fused", ""),
             test::contains_text("keeps the logits as they are"));
}

}  // namespace shardlab
