// The precision pass under torch.autocast: dtypes, casts, what is kept of weights, what is refused.
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "engine/model/families/family.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/precision/assign_precision.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/model/first_operator.h"

namespace shardlab::test {
namespace {

constexpr DType k_wide = DType::float32, k_narrow = DType::bfloat16;

Result<ModelGraph> under_autocast(const std::string& config_text, DType parameters) {
  const auto config = ModelConfig::parse(config_text, "config.json", {});
  REQUIRE_OK(config);
  GraphOptions options;
  options.micro_batch = 1;
  options.sequence_length = 16;
  options.compute_dtype = parameters;
  options.implementation = Implementation::eager;
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return assign_precision(*std::move(graph), {{ModuleId{0}, {parameters, parameters, std::nullopt, true}}},
                          {}, k_narrow);
}

const std::string k_llama = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 176,
    "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 256})";
const std::string k_mpt = R"({"model_type": "mpt", "d_model": 48, "n_layers": 1, "n_heads": 6,
    "vocab_size": 130, "max_seq_len": 64, "attn_config": {"alibi": false}, "norm_type": "NORM"})";

std::string mpt_with(const std::string& norm) {
  std::string text = k_mpt;
  return text.replace(text.find("NORM"), 4, norm);
}

// "linear bfloat16", in order; casts left out.
std::vector<std::string> dtypes_of(const ModelGraph& graph) {
  std::vector<std::string> dtypes;
  for (const Operator& op : graph.operators) {
    if (op.type == &k_cast) continue;
    dtypes.push_back(fmt::format("{} {}", op.type->name, to_string(graph.tensor(op.outputs[0]).dtype)));
  }
  return dtypes;
}

std::size_t count_of(const ModelGraph& graph, const OperatorType& type) {
  std::size_t count = 0;
  for (const Operator& op : graph.operators) count += op.type == &type ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("autocast: products in the lower dtype, the residual stream as wide as its parameters") {
  const auto graph = under_autocast(k_llama, k_wide);
  REQUIRE_OK(graph);
  CHECK(dtypes_of(*graph) == std::vector<std::string>{"embedding float32",
                                                      "eager_rms_norm float32",
                                                      "linear bfloat16",
                                                      "eager_rope float32",
                                                      "linear bfloat16",
                                                      "eager_rope float32",
                                                      "linear bfloat16",
                                                      "attention bfloat16",
                                                      "linear bfloat16",
                                                      "add float32",
                                                      "eager_rms_norm float32",
                                                      "linear bfloat16",
                                                      "silu bfloat16",
                                                      "linear bfloat16",
                                                      "multiply bfloat16",
                                                      "linear bfloat16",
                                                      "add float32",
                                                      "eager_rms_norm float32",
                                                      "linear bfloat16",
                                                      "eager_cross_entropy float32"});
  // The normed input for q, k, v, gate, up and the head, each for itself; q and k, which rope has widened.
  CHECK(count_of(*graph, k_cast) == 8);
}

TEST_CASE("autocast: with parameters in its dtype Llama has nothing to cast") {
  const auto graph = under_autocast(k_llama, k_narrow);
  REQUIRE_OK(graph);
  CHECK(count_of(*graph, k_cast) == 0);
  const Operator& linear = first_operator(*graph, k_linear);
  CHECK_FALSE(linear.attributes.find(attribute::k_parameter_dtype));
}

TEST_CASE("autocast: a product keeps the copy of its weight, and casts its gradient back") {
  const auto graph = under_autocast(k_llama, k_wide);
  REQUIRE_OK(graph);
  const Operator& linear = first_operator(*graph, k_linear);  // of q: 64 x 64
  const OperatorDescription description = describe_operator(*graph, linear);
  REQUIRE(description.extras.size() == 1);
  CHECK(description.extras[0].shape == Shape{64, 64});
  CHECK(description.extras[0].dtype == k_narrow);
  CHECK(description.backward_temporaries == Bytes{64 * 64 * 2});
  REQUIRE(description.forward.size() == 2);  // the cast, the product
  CHECK(description.forward[0].bytes == Bytes{64 * 64 * (4 + 2)});
  REQUIRE(description.backward.size() == 3);
  CHECK(description.backward[2].bytes == Bytes{64 * 64 * (4 + 2)});
}

TEST_CASE("autocast: a sum passes its gradient to the addend of its dtype, and casts it for the narrower") {
  const auto graph = under_autocast(k_llama, k_wide);
  REQUIRE_OK(graph);
  const Operator& add = first_operator(*graph, k_add);
  const OperatorDescription description = describe_operator(*graph, add);
  const Bytes wide = graph->tensor(add.outputs[0]).bytes();
  CHECK(description.passed_gradients == 0b01);
  CHECK(description.forward[0].bytes == wide * 2 + wide / 2);
  REQUIRE(description.backward.size() == 1);
  CHECK(description.backward[0].bytes == wide + wide / 2);
}

TEST_CASE("autocast: LayerNorm is in float32, llm-foundry's in low precision is not") {
  const auto plain = under_autocast(mpt_with("layernorm"), k_narrow);
  REQUIRE_OK(plain);
  CHECK(plain->tensor(first_operator(*plain, k_layer_norm).outputs[0]).dtype == k_wide);
  CHECK(count_of(*plain, k_cast) == 6);  // three norms, in and out
  const auto low = under_autocast(mpt_with("low_precision_layernorm"), k_narrow);
  REQUIRE_OK(low);
  CHECK(low->tensor(first_operator(*low, k_layer_norm).outputs[0]).dtype == k_narrow);
  CHECK(count_of(*low, k_cast) == 0);
}

// GPT-2's activation is written out in Python: x^3 is computed in float32, 0.5 x in bfloat16.
TEST_CASE("autocast: what is written out is as wide as the widest of its steps from there on") {
  const auto graph = under_autocast(R"({"model_type": "gpt2", "n_embd": 48, "n_layer": 1, "n_head": 6,
      "vocab_size": 130, "n_positions": 64, "attn_pdrop": 0, "embd_pdrop": 0, "resid_pdrop": 0})",
                                    k_wide);
  REQUIRE_OK(graph);
  const Operator& gelu = first_operator(*graph, k_eager_gelu_new);
  const Tensor &x = graph->tensor(gelu.inputs[0]), &y = graph->tensor(gelu.outputs[0]);
  CHECK(x.dtype == k_narrow);
  CHECK(y.dtype == k_wide);
  const OperatorDescription description = describe_operator(*graph, gelu);
  CHECK(description.saved_inputs == 0);
  const Bytes n{16 * 192};  // a byte an element
  Bytes kept;
  for (const ExtraTensor& extra : description.extras)
    kept += bytes_of(element_count(extra.shape), extra.dtype);
  CHECK(kept == n * (2 + 4 + 4 + 4));
  // 0.5 x 4, cast 6, cube 8, times 8, sum 10, times 8, tanh 8, sum 8, product 10.
  CHECK(description.forward[0].bytes == n * 70);
  // Products 12 + 10, cast 6, tanh 12, times 8, cast 6; times 8, square 8, times 8, product 12, cast 6, sum
  // 6; times 4, sum 6.
  CHECK(description.backward[0].bytes == n * 112);
}

TEST_CASE("autocast: what has steps in several dtypes is refused by name") {
  const auto graph = under_autocast(R"({"model_type": "falcon", "hidden_size": 64, "num_hidden_layers": 1,
      "num_attention_heads": 8, "vocab_size": 130, "num_kv_heads": 2, "new_decoder_architecture": true,
      "multi_query": false, "parallel_attn": true, "bias": false, "alibi": false})",
                                    k_wide);
  REQUIRE_FALSE(graph);
  CHECK_THAT(to_string(graph.error()),
             contains_text("precision.autocast: not supported yet: eager_packed_rope"));
}

TEST_CASE("autocast: operators follow the lists that are compared with torch's") {
  const std::map<std::string, AutocastRule> rules{{"widest", AutocastRule::widest},
                                                  {"lower", AutocastRule::lower},
                                                  {"full", AutocastRule::full},
                                                  {"widens", AutocastRule::widens},
                                                  {"undescribed", AutocastRule::undescribed}};
  std::ifstream file(data_file("autocast_rules.txt"));
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name, rule;
    words >> name >> rule;
    INFO(line);
    const OperatorType* const type = find_operator_type(name);
    REQUIRE(type != nullptr);
    CHECK(type->autocast == rules.at(rule));
    ++compared;
  }
  CHECK(compared == 29);
}

}  // namespace shardlab::test
