// Weights in four bits: which are converted, what is stored of them, what a product with them takes. What
// bitsandbytes and peft do with real tensors is compared by tests/peers/live_peaks.py.
#include "engine/model/quantize.h"

#include "engine/model/families/family.h"
#include "engine/model/lora/add_adapters.h"
#include "engine/model/operators/attribute_keys.h"
#include "tests/catch.h"
#include "tests/unit/model/first_operator.h"

namespace shardlab::test {
namespace {

ModelGraph with_adapters(const std::string& config, const std::string& target = "q_proj",
                         Implementation implementation = Implementation::eager) {
  const auto parsed = ModelConfig::parse(config, "config.json", {});
  REQUIRE_OK(parsed);
  GraphOptions options{1, 32, DType::bfloat16, DType::bfloat16};
  options.implementation = implementation;
  auto graph = build_model_graph(*parsed, options);
  REQUIRE_OK(graph);
  LoraSpec lora;
  lora.rank = 4;
  lora.targets = {target};
  auto adapted = add_adapters(*std::move(graph), lora);
  REQUIRE_OK(adapted);
  return *std::move(adapted);
}

constexpr const char* k_llama =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "vocab_size": 256, "intermediate_size": 176})";
constexpr const char* k_gemma2 =
    R"({"model_type": "gemma2", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 256, "intermediate_size": 176})";
constexpr const char* k_falcon =
    R"({"model_type": "falcon", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
        "vocab_size": 256})";
constexpr const char* k_gpt2 =
    R"({"model_type": "gpt2", "n_embd": 64, "n_layer": 1, "n_head": 4, "vocab_size": 256, "n_positions": 64,
        "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0})";

std::vector<std::string> converted(const ModelGraph& graph) {
  std::vector<std::string> paths;
  for (const Operator& op : graph.operators) {
    if (op.attributes.find(attribute::k_quantized)) paths.push_back(graph.module(op.module).path);
  }
  return paths;
}

}  // namespace

TEST_CASE("quantize: frozen linear layers of torch's own class, neither the head nor adapters") {
  ModelGraph llama = with_adapters(k_llama);
  REQUIRE_OK(quantize_frozen_weights(llama, Quantization::nf4));
  CHECK(converted(llama) ==
        std::vector<std::string>{"model.layers.0.self_attn.q_proj.base_layer",
                                 "model.layers.0.self_attn.k_proj", "model.layers.0.self_attn.v_proj",
                                 "model.layers.0.self_attn.o_proj", "model.layers.0.mlp.gate_proj",
                                 "model.layers.0.mlp.up_proj", "model.layers.0.mlp.down_proj"});
  // A soft cap stands between head and loss.
  ModelGraph gemma2 = with_adapters(k_gemma2);
  REQUIRE_OK(quantize_frozen_weights(gemma2, Quantization::nf4));
  CHECK(converted(gemma2).size() == 7);
  ModelGraph gpt2 = with_adapters(k_gpt2, "c_attn");
  REQUIRE_OK(quantize_frozen_weights(gpt2, Quantization::nf4));
  CHECK(converted(gpt2).size() == 4);
}

TEST_CASE("quantize: a class of the model's own stays, and a model of such layers is refused") {
  ModelGraph falcon = with_adapters(k_falcon, "query_key_value");
  const Status refused = quantize_frozen_weights(falcon, Quantization::nf4);
  REQUIRE_FALSE(refused);
  CHECK_THAT(to_string(refused.error()), test::contains_text("model.quantized"));
}

TEST_CASE("quantize: two elements a byte of the stored dtype, and the model is as large as before") {
  ModelGraph graph = with_adapters(k_llama);
  const std::int64_t total = total_parameters(graph), a_layer = parameters_per_layer(graph);
  REQUIRE_OK(quantize_frozen_weights(graph, Quantization::nf4_double));
  CHECK(total_parameters(graph) == total);
  CHECK(parameters_per_layer(graph) == a_layer);
  const Operator& q = first_operator(graph, k_linear);
  CHECK(graph.parameter(q.parameters[0]).shape == Shape{64 * 64 / 4, 1});
  CHECK(graph.parameter(q.parameters[0]).dtype == DType::bfloat16);
  REQUIRE(q.inputs.size() == 3);
  CHECK(graph.tensor(q.inputs[1]).bytes() == Bytes{64 * 64 / 64});
  CHECK(graph.tensor(q.inputs[2]).bytes() == Bytes{4});
}

TEST_CASE("quantize: the weight is made anew for both products, and no input is kept for it") {
  ModelGraph graph = with_adapters(k_llama);
  REQUIRE_OK(quantize_frozen_weights(graph, Quantization::nf4));
  for (const Operator& op : graph.operators) {
    if (graph.module(op.module).path != "model.layers.0.mlp.down_proj") continue;
    const OperatorDescription down = describe_operator(graph, op);
    CHECK(down.saved_inputs == 0);
    CHECK(down.forward_temporaries == Bytes{64 * 176 * 2});
    CHECK(down.backward_temporaries == Bytes{64 * 176 * 2});
    REQUIRE(down.forward.size() == 2);
    CHECK(down.forward[0].bytes == Bytes{64 * 176 / 2 + 64 * 176 / 64 * 4 + 64 * 176 * 2});
    CHECK(down.forward[1].model_flops == Flops{2 * 32 * 64 * 176});
    return;
  }
  FAIL("there is no such layer");
}

TEST_CASE("quantize: a layer's result is copied before an adapter adds to it, as peft does") {
  ModelGraph graph = with_adapters(k_llama);
  CHECK_FALSE(first_operator(graph, k_eager_linear_add).attributes.find(attribute::k_cloned));
  REQUIRE_OK(quantize_frozen_weights(graph, Quantization::nf4));
  CHECK(first_operator(graph, k_eager_linear_add).attributes.get(attribute::k_cloned));
  ModelGraph fused = with_adapters(k_llama, "q_proj", Implementation::fused);
  REQUIRE_OK(quantize_frozen_weights(fused, Quantization::nf4));
  CHECK_FALSE(first_operator(fused, k_linear_add).attributes.find(attribute::k_cloned));
}

}  // namespace shardlab::test
