// Llama graphs: names and order, and what a layer keeps for backward.
#include "engine/model/families/family.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"

namespace shardlab::test {
namespace {

constexpr const char* k_small =
    R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256, "max_position_embeddings": 64})";

Result<ModelGraph> graph_of(std::string_view json,
                            const GraphOptions& options = {1, 16, DType::float32, DType::float32}) {
  auto config = ModelConfig::parse(json, "config.json", {});
  if (!config) return fail(config.error());
  return build_model_graph(*config, options);
}

}  // namespace

TEST_CASE("names and order are the checkpoint's") {
  const auto graph = graph_of(k_small);
  REQUIRE(graph);
  const std::vector<std::string> expected = {
      "model.embed_tokens.weight",
      "model.layers.0.self_attn.q_proj.weight",
      "model.layers.0.self_attn.k_proj.weight",
      "model.layers.0.self_attn.v_proj.weight",
      "model.layers.0.self_attn.o_proj.weight",
      "model.layers.0.mlp.gate_proj.weight",
      "model.layers.0.mlp.up_proj.weight",
      "model.layers.0.mlp.down_proj.weight",
      "model.layers.0.input_layernorm.weight",
      "model.layers.0.post_attention_layernorm.weight",
  };
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(graph->parameters[i].name == expected[i]);
  CHECK(graph->parameters[19].name == "model.norm.weight");
  CHECK(graph->parameters[20].name == "lm_head.weight");
  CHECK(graph->parameters[5].shape == Shape{176, 64});
}

TEST_CASE("a tied head is no parameter of its own") {
  std::string json = k_small;
  json.insert(json.size() - 1, R"(, "tie_word_embeddings": true)");
  const auto graph = graph_of(json);
  REQUIRE(graph);
  CHECK(graph->parameters.size() == 20);
  CHECK(graph->operators[graph->operators.size() - 2].parameters.front() == ParameterId{0});
}

TEST_CASE("what a layer keeps, byte by byte") {
  // Per token, bf16, h = 64, f = 176, a = 4 heads, k and v half as wide as q. Inside the layer's segment:
  // norm outputs 2 x 2h, rotated q 2h, rotated k and v 2 x h, attention output 2h, input of the second norm
  // 2h, gate, up and product 3 x 2f; float32: two deviations 8, log-sum-exp 4a. The layer's input (2h) is a
  // border tensor.
  const auto graph = graph_of(k_small, {1, 16, DType::float32, DType::bfloat16});
  REQUIRE(graph);
  const auto wrapped = wrap_modules(*graph, WrapSpec{});
  REQUIRE(wrapped);
  const Partition partition = make_partition(*graph, wrapped->units, {});
  REQUIRE(partition.segments.size() == 4);
  const std::int64_t h = 64, f = 176, a = 4;
  CHECK(partition.segments[1].programs.saved_bytes.value ==
        16 * (4 * h + 2 * h + 2 * h + 2 * h + 2 * h + 6 * f + 8 + 4 * a));
  CHECK(partition.segments[1].programs.saved_bytes == partition.segments[2].programs.saved_bytes);
}

TEST_CASE("programs balance: what they allocate they free, keep or hand over") {
  const auto graph = graph_of(k_small);
  REQUIRE(graph);
  // Cuts inside a layer make several border tensors with several consumers.
  const std::vector<OperatorId> cuts = {OperatorId{3}, OperatorId{9}, OperatorId{12}, OperatorId{17}};
  const Partition partition = make_partition(*graph, {}, cuts);
  for (const Segment& segment : partition.segments) {
    INFO(segment.name);
    const Program& program = segment.programs.backward;
    std::vector<int> live(program.values.size(), 0);
    for (std::size_t i = 0; i < program.values.size(); ++i)
      live[i] = program.values[i].origin == ValueOrigin::saved;
    for (const ProgramStep& step : program.steps) {
      for (const ValueIndex value : step.allocates) CHECK(++live[value] == 1);
      for (const ValueIndex value : step.frees) {
        if (program.values[value].origin != ValueOrigin::gradient_buffer) CHECK(--live[value] == 0);
      }
    }
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      if (program.values[i].origin == ValueOrigin::internal || program.values[i].origin == ValueOrigin::saved)
        CHECK(live[i] == 0);
    }
  }
}

TEST_CASE("unusable configurations are refused by name") {
  const auto message = [](std::string_view json) { return to_string(graph_of(json).error()); };
  CHECK_THAT(message("{"), contains_text("not valid JSON"));
  CHECK_THAT(message(R"({"model_type": "lama"})"), contains_text("did you mean 'llama'"));
  CHECK_THAT(message(R"({"model_type": "llama", "hidden_size": "64"})"), contains_text("hidden_size"));
  CHECK_THAT(message(R"({"model_type": "llama", "hidden_size": -64})"), contains_text("hidden_size"));
  CHECK_THAT(message(R"({"model_type": "llama", "hidden_size": 64})"),
             contains_text("intermediate_size: missing"));
  std::string longer = k_small;
  CHECK_THAT(to_string(graph_of(longer, {1, 65, DType::float32, DType::float32}).error()),
             contains_text("max_position_embeddings"));
}

TEST_CASE("an override may add a field the file lacks, not one the family does not know") {
  const auto build = [](const std::map<std::string, std::string>& overrides) {
    return build_model_graph(*ModelConfig::parse(k_small, "config.json", overrides),
                             {1, 16, DType::float32, DType::float32});
  };
  CHECK(build({{"head_dim", "32"}})->parameters[1].shape == Shape{128, 64});
  CHECK_THAT(to_string(build({{"hidden_sise", "128"}}).error()), contains_text("did you mean 'hidden_size'"));
}

}  // namespace shardlab::test
