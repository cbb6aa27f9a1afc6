// Frozen parameters: who is frozen by which pattern, where gradients still flow, and what segments keep for
// them.
#include "engine/model/freeze.h"
#include "engine/model/families/family.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/unit/model/check_programs.h"

namespace shardlab::test {
namespace {

ModelGraph llama(const std::string& more = {}) {
  const auto config = ModelConfig::parse(
      R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 4,
          "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256,
          "max_position_embeddings": 64)" +
          more + "}",
      "config.json", {});
  REQUIRE(config);
  auto graph = build_model_graph(*config, {1, 16, DType::float32, DType::float32});
  REQUIRE(graph);
  return *std::move(graph);
}

ModelGraph frozen(const std::vector<std::string>& patterns, const std::string& more = {}) {
  ModelGraph graph = llama(more);
  const Status done = freeze_parameters(graph, patterns);
  if (!done) FAIL(to_string(done.error()));
  return graph;
}

std::vector<std::string> frozen_names(const ModelGraph& graph) {
  std::vector<std::string> names;
  for (const Parameter& parameter : graph.parameters) {
    CHECK(parameter.trainable == parameter.requires_grad);
    if (!parameter.trainable) names.push_back(parameter.name);
  }
  return names;
}

Partition by_layer(const ModelGraph& graph, const std::vector<OperatorId>& cuts = {}) {
  return make_partition(graph, wrap_modules(graph, WrapSpec{})->units, cuts);
}

const std::vector<std::string> k_lower = {"model.embed_tokens", "model.layers.0", "model.layers.1"};

}  // namespace

TEST_CASE("a pattern names a parameter or a module around it") {
  using Names = std::vector<std::string>;
  CHECK(frozen_names(frozen({"model.norm.weight"})) == Names{"model.norm.weight"});
  CHECK(frozen_names(frozen({"model.embed_tokens"})) == Names{"model.embed_tokens.weight"});
  CHECK(frozen_names(frozen({"model.layers.*.self_attn.q_proj"})).size() == 4);
  CHECK(frozen_names(frozen({"model.layers.3"})).size() == 9);
  CHECK(frozen_names(frozen({"**.mlp", "lm_head"})).size() == 13);
  CHECK(frozen_names(frozen({"model"})).size() == 38);  // everything but the head
  CHECK(trainable_parameters(frozen({"model"})) == 256 * 64);
}

TEST_CASE("a tied parameter is frozen by the path of either owner") {
  const std::string tied = R"(, "tie_word_embeddings": true)";
  CHECK(frozen_names(frozen({"lm_head"}, tied)) == std::vector<std::string>{"model.embed_tokens.weight"});
  CHECK(frozen_names(frozen({"model.embed_tokens.weight"}, tied)).size() == 1);
}

TEST_CASE("a pattern that names nothing is refused, and so is a model with nothing to train") {
  const auto message = [](const std::vector<std::string>& patterns) {
    ModelGraph graph = llama();
    return to_string(freeze_parameters(graph, patterns).error());
  };
  CHECK_THAT(message({"model.embed_token"}), contains_text("did you mean 'model.embed_tokens'"));
  CHECK_THAT(message({"model.layers.4"}), contains_text("no parameter of this model matches"));
  CHECK_THAT(message({"*"}), contains_text("nothing would be trained"));
}

TEST_CASE("no gradient flows below the lowest trained parameter") {
  const ModelGraph graph = frozen(k_lower);
  const Partition partition = by_layer(graph);
  REQUIRE(partition.segments.size() == 6);
  for (int i = 0; i < 6; ++i) {
    INFO(i);
    const SegmentPrograms& programs = partition.segments[static_cast<std::size_t>(i)].programs;
    CHECK(programs.has_backward() == (i >= 3));
    CHECK((programs.saved_bytes.value > 0) == (i >= 3));
    CHECK(programs.gradient_outputs.size() == (i > 3 ? 1U : 0U));
    CHECK(programs.gradient_inputs.size() == (i >= 3 && i < 5 ? 1U : 0U));
  }
  // The forward that nobody differentiates frees all it makes but its output.
  const Program& forward = partition.segments[1].programs.forward;
  Bytes left;
  for (const ProgramStep& step : forward.steps) {
    for (const ValueIndex value : step.allocates) left += forward.values[value].bytes;
    for (const ValueIndex value : step.frees) left -= forward.values[value].bytes;
  }
  CHECK(left == graph.tensor(partition.segments[1].outputs[0]).bytes());
}

TEST_CASE("units know whether gradients enter and leave them") {
  const Partition partition = by_layer(frozen(k_lower));
  const auto flags = [&](std::size_t unit) {
    return std::pair(partition.units[unit].outputs_require_grad, partition.units[unit].inputs_require_grad);
  };
  CHECK(flags(0) == std::pair(true, false));  // the root: its inputs are tokens
  CHECK(flags(1) == std::pair(false, false));
  CHECK(flags(2) == std::pair(false, false));
  CHECK(flags(3) == std::pair(true, false));  // the lowest trained layer
  CHECK(flags(4) == std::pair(true, true));
  const Partition all = by_layer(llama());
  CHECK(all.units[1].outputs_require_grad);
  CHECK(all.units[1].inputs_require_grad);
  CHECK_FALSE(all.units[0].inputs_require_grad);
}

TEST_CASE("a frozen weight keeps no input") {
  // Per layer and token, float32: the inputs of q, k, v (shared), of o, of gate and up (shared), of down, and
  // of the norms stay only where something else needs them: the norms' inputs and deviations, attention's
  // tensors, gate and up.
  const std::int64_t h = 64, f = 176, a = 4, tokens = 16;
  const Partition all = by_layer(llama());
  const Partition linears = by_layer(frozen({"model.layers.*.*.*_proj"}));
  const std::int64_t normed = 2 * h, product = f;  // attention keeps its output itself
  CHECK(all.segments[2].programs.saved_bytes.value - linears.segments[2].programs.saved_bytes.value ==
        tokens * 4 * (normed + product));
  const std::int64_t qkv = 2 * h, attended = h, middle = h;
  CHECK(linears.segments[2].programs.saved_bytes.value ==
        tokens * 4 * (qkv + attended + middle + 2 * f + 2 + a));
}

TEST_CASE("partly frozen programs balance, wherever they are cut") {
  const std::vector<std::vector<std::string>> patterns = {
      {"model.embed_tokens"},
      k_lower,
      {"model.embed_tokens", "model.layers.0.input_layernorm", "model.layers.0.self_attn.q_proj"},
      {"model.embed_tokens", "model.layers.0.self_attn", "model.layers.0.input_layernorm",
       "model.layers.0.post_attention_layernorm", "model.layers.0.mlp.gate_proj"},
      {"**.self_attn"},
      {"**.mlp", "**.*norm*"},
      {"lm_head"},
      {"model"},
  };
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const ModelGraph graph = frozen(patterns[i]);
    for (const std::vector<OperatorId>& cuts :
         {std::vector<OperatorId>{}, {OperatorId{3}, OperatorId{9}, OperatorId{12}, OperatorId{17}}}) {
      INFO("patterns " << i << ", " << cuts.size() << " cuts");
      for (const Partition& partition : {by_layer(graph, cuts), make_partition(graph, {}, cuts)}) {
        for (const Segment& segment : partition.segments) check_balance(segment);
      }
    }
  }
}

TEST_CASE("a flat parameter has gradients for all of a unit or for none of it") {
  ModelGraph graph = frozen(k_lower);
  const Partition before = by_layer(graph);
  REQUIRE(require_gradients_by_unit(graph, before.unit_of_parameter));
  CHECK_FALSE(graph.parameters[0].trainable);
  CHECK(graph.parameters[0].requires_grad);        // the embedding shares the root with the head
  CHECK_FALSE(graph.parameters[1].requires_grad);  // a frozen layer is a unit of its own
  const Partition after = by_layer(graph);
  for (const Segment& segment : after.segments) CHECK(segment.programs.has_backward());
  for (const Unit& unit : after.units) CHECK(unit.outputs_require_grad);
  CHECK(after.segments[1].gradients.empty());
  CHECK(after.segments[0].gradients.size() == 1);
  CHECK_FALSE(require_gradients_by_unit(graph, after.unit_of_parameter));
}

}  // namespace shardlab::test
