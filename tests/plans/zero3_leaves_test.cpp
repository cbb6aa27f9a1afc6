// Leaf modules under ZeRO-3: what is gathered and reduced at once, and which are refused.
#include <algorithm>

#include "engine/planner/plan_scenario.h"
#include "tests/catch.h"
#include "tests/plans/plan_cases.h"

namespace shardlab::test {
namespace {

std::vector<std::string> with_leaves(const std::string& leaves, std::vector<std::string> more = {}) {
  more.emplace_back("parallel.strategy=zero3");
  more.push_back(
      "parallel.zero={stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, "
      "stage3_prefetch_bucket_size: 0, reduce_bucket_size: 20000, leaf_module: " +
      leaves + "}");
  return more;
}

std::string refused(const std::string& leaves, std::vector<std::string> more = {}) {
  const auto scenario = parse_small_llama(with_leaves(leaves, std::move(more)));
  REQUIRE(scenario);
  const auto planned = plan_scenario(*scenario);
  return planned ? "" : to_string(planned.error());
}

std::vector<std::size_t> gathered_at_once(const StepPlan& plan) {
  std::vector<std::size_t> counts;
  for (const Instruction& instruction : plan.instructions) {
    if (instruction.kind == InstructionKind::AllGather)
      counts.push_back(plan.buffer(instruction.writes.front()).parameters.size());
  }
  return counts;
}

std::string module_of(const PlannedScenario& planned, UnitId unit) {
  return planned.partition.unit(unit).path(planned.graph);
}

}  // namespace

TEST_CASE("leaf modules: what is below one is gathered at once, with its entry") {
  const PlannedScenario planned = plan_small_llama(with_leaves("{classes: [LlamaMLP]}"));
  const std::vector<std::size_t> counts = gathered_at_once(planned.plan.steady);
  // Four layers, in forward and in backward: gate, up and down.
  CHECK(std::count(counts.begin(), counts.end(), 3U) == 8);
  CHECK(std::count(counts.begin(), counts.end(), 1U) + 8 == static_cast<std::ptrdiff_t>(counts.size()));
  const std::vector<std::size_t> without = gathered_at_once(plan_small_llama(with_leaves("{}")).plan.steady);
  CHECK(std::count(without.begin(), without.end(), 3U) == 0);
}

TEST_CASE("leaf modules: gradients are reduced with the end of the module, in the order of definition") {
  const PlannedScenario planned = plan_small_llama(with_leaves("{names: [model.layers.3]}"));
  const StepPlan& plan = planned.plan.steady;
  std::vector<ParameterId> reduced;
  bool ended = false;
  for (const Instruction& instruction : plan.instructions) {
    const bool of_leaf = instruction.unit && module_of(planned, *instruction.unit) == "model.layers.3";
    ended = ended || (of_leaf && instruction.kind == InstructionKind::Backward);
    if (instruction.kind != InstructionKind::Pack || instruction.unit == UnitId{0}) continue;
    for (const BufferId read : instruction.reads) {
      const Buffer& buffer = plan.buffer(read);
      if (buffer.buffer_class != BufferClass::gradient || !of_leaf) continue;
      CHECK(ended);
      reduced.insert(reduced.end(), buffer.parameters.begin(), buffer.parameters.end());
    }
  }
  CHECK(std::is_sorted(reduced.begin(), reduced.end()));
}

TEST_CASE("leaf modules: names are those of what is trained, adapters stand around it") {
  CHECK(refused("{names: [model.layers.0.mlp]}") == "");
  CHECK(refused("{name_suffixes: layers.1.mlp}") == "");
  const std::vector<std::string> adapted{"model.lora={rank: 2, targets: [q_proj, gate_proj]}"};
  CHECK(refused("{names: base_model.model.model.layers.0.mlp}", adapted) == "");
  CHECK_THAT(refused("{names: model.layers.0.mlp}", adapted),
             contains_text("no module has the name model.layers.0.mlp"));
  CHECK_THAT(refused("{classes: LlamaMPL}"), contains_text("did you mean 'LlamaMLP'?"));
  CHECK(refused("{classes: [transformers.models.llama.modeling_llama.LlamaMLP]}") == "");
}

TEST_CASE("leaf modules: refused where DeepSpeed takes gradients before they are there") {
  CHECK_THAT(refused("{classes: [LlamaAttention]}"),
             contains_text("model.layers.0.self_attn before they are there: transformers"));
  CHECK_THAT(refused("{classes: [LlamaDecoderLayer]}", {"model.frozen=[model.embed_tokens]"}),
             contains_text("model.layers.0 before they are there: nothing before it is trained"));
  CHECK_THAT(refused("{names: [lm_head]}", {"model.overrides.tie_word_embeddings=true"}),
             contains_text("lm_head before they are there: a parameter of it is tied to one outside"));
}

}  // namespace shardlab::test
