// Which form of its operators a model is planned in, where the scenario leaves it open.
#include <algorithm>
#include <tuple>

#include "engine/planner/load_model.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

// Alibi with one key head for all query heads has no eager form.
Scenario falcon(const std::string& more) {
  const auto scenario =
      parse_scenario("model: {config: falcon-7b, sequence_length: 64, overrides: {num_hidden_layers: 2" +
                         more + "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n",
                     "a.yaml");
  REQUIRE_OK(scenario);
  return *scenario;
}

}  // namespace

TEST_CASE("a model without an eager form is planned with fused operators, unless eager was asked for") {
  const auto open = plan_scenario(falcon(", alibi: true}"));
  REQUIRE_OK(open);
  CHECK(open->graph.implementation == Implementation::fused);
  REQUIRE_OK(load_model_graph(falcon(", alibi: true}")));
  const auto eager = plan_scenario(falcon(", alibi: true}, implementation: eager"));
  REQUIRE_FALSE(eager.has_value());
  CHECK(eager.error().code == ErrorCode::no_eager_form);
  CHECK(eager.error().place.name == "model.implementation");
}

TEST_CASE("a model with an eager form has it on GPUs") {
  const auto planned = plan_scenario(falcon("}"));
  REQUIRE_OK(planned);
  CHECK(planned->graph.implementation == Implementation::eager);
}

// llm-foundry's MPT: flash attention with alibi in one kernel, everything else eager.
TEST_CASE("attention can be one kernel among eager operators") {
  const auto planned_with = [](const std::string& more) {
    const auto scenario =
        parse_scenario("model: {config: mpt-7b, sequence_length: 64, overrides: {n_layers: 2}" + more +
                           "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n",
                       "a.yaml");
    REQUIRE_OK(scenario);
    return plan_scenario(*scenario);
  };
  const auto count = [](const PlannedScenario& planned, std::string_view type) {
    return std::count_if(planned.graph.operators.begin(), planned.graph.operators.end(),
                         [&](const Operator& op) { return op.type->name == type; });
  };
  const auto modules = planned_with("");
  REQUIRE_OK(modules);
  CHECK(count(*modules, "eager_attention") == 2);
  const auto flash = planned_with(", attention: flash");
  REQUIRE_OK(flash);
  CHECK(count(*flash, "eager_attention") == 0);
  CHECK(count(*flash, "attention") == 2);
  CHECK(flash->graph.implementation == Implementation::eager);
  const auto fused = planned_with(", attention: flash, implementation: fused");
  REQUIRE_FALSE(fused.has_value());
  CHECK(fused.error().place.name == "model.attention");
}

// The only implementation that transformers has for a soft cap, and flash attention in its place.
TEST_CASE("attention with a soft cap computes step by step unless it is said to be one kernel") {
  for (const auto& [more, type] :
       {std::pair{"", "eager_capped_attention"}, {", attention: flash", "attention"}}) {
    const auto scenario =
        parse_scenario("model: {config: gemma-2-2b, sequence_length: 64, overrides: {num_hidden_layers: 2}" +
                           std::string(more) + "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n",
                       "a.yaml");
    REQUIRE_OK(scenario);
    const auto planned = plan_scenario(*scenario);
    REQUIRE_OK(planned);
    CHECK(planned->graph.implementation == Implementation::eager);
    CHECK(std::count_if(planned->graph.operators.begin(), planned->graph.operators.end(),
                        [&](const Operator& op) { return op.type->name == type; }) == 2);
  }
}

// transformers makes a mask for the window of Mistral-7B even at its own length; flash attention knows
// windows.
TEST_CASE("attention with a window is handed a mask unless it is said to be one kernel") {
  for (const auto& [length, more, type] : {std::tuple{"4096", "", "eager_windowed_attention"},
                                           {"4095", "", "attention"},
                                           {"4096", ", attention: flash", "attention"}}) {
    CAPTURE(length, more);
    const auto scenario = parse_scenario(
        "precision: {param: bfloat16}\nmodel: {config: mistral-7b, sequence_length: " + std::string(length) +
            ", overrides: {num_hidden_layers: 2}" + std::string(more) +
            "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n",
        "a.yaml");
    REQUIRE_OK(scenario);
    const auto planned = plan_scenario(*scenario);
    REQUIRE_OK(planned);
    CHECK(std::count_if(planned->graph.operators.begin(), planned->graph.operators.end(),
                        [&](const Operator& op) { return op.type->name == type; }) == 2);
  }
}

// Llama 3 shares key heads: torch has kernels for it in 16 bits from Ampere on.
TEST_CASE("attention is computed by its formula where the GPU has no kernel for it") {
  for (const auto& [more, gpu, type] :
       {std::tuple{"", "H100-SXM", "eager_math_attention"},
        {"precision: {param: bfloat16}", "H100-SXM", "attention"},
        {"precision: {autocast: bfloat16}", "H100-SXM", "attention"},
        {"precision: {param: float16}", "V100-SXM-32GB", "eager_math_attention"}}) {
    CAPTURE(more, gpu);
    const auto scenario = parse_scenario(
        "model: {config: llama-3.2-1b, sequence_length: 64, overrides: {num_hidden_layers: 2}}\n"
        "cluster: {gpu: " +
            std::string(gpu) + ", gpus_per_node: 8}\nparallel: {strategy: fsdp1}\n" + more + "\n",
        "a.yaml");
    REQUIRE_OK(scenario);
    const auto planned = plan_scenario(*scenario);
    REQUIRE_OK(planned);
    CHECK(planned->graph.implementation == Implementation::eager);
    CHECK(std::count_if(planned->graph.operators.begin(), planned->graph.operators.end(),
                        [&](const Operator& op) { return op.type->name == type; }) == 2);
  }
}

TEST_CASE("attention with all its scores in memory is computed as the scenario says") {
  const auto planned_with = [](const std::string& model) {
    const auto scenario = parse_scenario(
        "precision: {param: bfloat16}\nmodel: {sequence_length: 64, overrides: {num_hidden_layers: 2}, " +
            model + "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n",
        "a.yaml");
    REQUIRE_OK(scenario);
    return plan_scenario(*scenario);
  };
  for (const auto& [model, type] :
       {std::pair{"config: llama-3.2-1b, attention: eager", "eager_stepped_attention"},
        {"config: llama-3.2-1b, attention: math", "eager_math_attention"},
        {"config: llama-3.2-1b, attention: masked", "eager_windowed_attention"},
        {"config: llama-3.2-1b, attention: unfused", "unfused_attention"},
        {"config: llama-3.2-1b, attention: unfused, implementation: fused", "unfused_attention"},
        {"config: gemma-2-2b, attention: eager", "eager_capped_attention"},
        {"config: gemma-2-2b, attention: flash", "attention"}}) {
    CAPTURE(model);
    const auto planned = planned_with(model);
    REQUIRE_OK(planned);
    CHECK(std::count_if(planned->graph.operators.begin(), planned->graph.operators.end(),
                        [&](const Operator& op) { return op.type->name == type; }) == 2);
  }
  for (const auto& [model, what] :
       {std::pair{"config: llama-3.2-1b, attention: eager, implementation: fused", "are fused"},
        {"config: llama-3.2-1b, attention: eager, compile: blocks", "what model.compile compiles"},
        {"config: llama-3.2-1b, attention: efficient", "share a key head"},
        {"config: mpt-7b, attention: unfused", "unfused with biases"},
        {"config: gemma-2-2b, attention: masked", "masked with a soft cap"},
        {"config: gemma-2-2b, attention: math", "math with a soft cap"}}) {
    CAPTURE(model);
    const auto planned = planned_with(model);
    REQUIRE_FALSE(planned.has_value());
    CHECK(planned.error().place.name == "model.attention");
    CHECK_THAT(to_string(planned.error()), test::contains_text(what));
  }
}

TEST_CASE("a distillation has an eager form") {
  const auto planned_with = [](const std::string& loss, const std::string& teacher) {
    const auto scenario = parse_scenario("model: {config: tiny-llama, sequence_length: 64, loss: " + loss +
                                             "}\ncluster: {node: hgx-h100}\nparallel: {strategy: fsdp2}\n"
                                             "distillation: {teacher: {config: tiny-llama, parallel: " +
                                             teacher + "}}\n",
                                         "a.yaml");
    REQUIRE_OK(scenario);
    return plan_scenario(*scenario);
  };
  const auto whole = planned_with("plain", "{strategy: fsdp2}");
  REQUIRE_OK(whole);
  CHECK(whole->graph.implementation == Implementation::eager);
  CHECK(whole->graph.operators.back().type->name == "eager_distillation_loss");
  // Over parts of the tokens the loss is one operator, as without a teacher, and has both heads.
  for (const std::string strategy : {"fsdp2", "fsdp1", "native", "none"}) {
    CAPTURE(strategy);
    const auto in_parts = planned_with("{kind: chunked, chunks: 4}", "{strategy: " + strategy + "}");
    REQUIRE_OK(in_parts);
    CHECK(in_parts->graph.operators.back().type->name == "chunked_distillation");
  }
  const auto given_back =
      planned_with("{kind: chunked, chunks: 4}", "{strategy: fsdp2, reshard_after_forward: true}");
  REQUIRE_FALSE(given_back.has_value());
  CHECK(given_back.error().place.name == "distillation.teacher.parallel.reshard_after_forward");
}

}  // namespace shardlab
