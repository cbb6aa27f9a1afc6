// Linear layers in float8: which are converted, what they cast, what they keep.
#include "engine/model/float8.h"

#include "engine/model/families/family.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/work.h"
#include "tests/catch.h"
#include "tests/unit/model/first_operator.h"

namespace shardlab::test {
namespace {

ModelGraph llama(std::int64_t feed_forward) {
  const auto config = ModelConfig::parse(
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": 256, "intermediate_size": )" +
          std::to_string(feed_forward) + "}",
      "config.json", {});
  REQUIRE_OK(config);
  auto graph = build_model_graph(*config, {1, 32, DType::float32, DType::bfloat16});
  REQUIRE_OK(graph);
  return *std::move(graph);
}

std::vector<std::string> converted(const ModelGraph& graph) {
  std::vector<std::string> names;
  for (const Operator& op : graph.operators) {
    const std::string& path = graph.module(op.module).path;
    if (op.attributes.find(attribute::k_float8)) names.push_back(path.substr(path.rfind('.') + 1));
  }
  return names;
}

}  // namespace

TEST_CASE("float8: all linear layers but the head, where both dimensions are multiples of 16") {
  ModelGraph graph = llama(176);
  REQUIRE_OK(use_float8_products(graph, Fp8Scaling::tensorwise));
  CHECK(converted(graph) == std::vector<std::string>{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj",
                                                     "up_proj", "down_proj"});
  ModelGraph odd = llama(170);
  REQUIRE_OK(use_float8_products(odd, Fp8Scaling::rowwise));
  CHECK(converted(odd) == std::vector<std::string>{"q_proj", "k_proj", "v_proj", "o_proj"});
}

TEST_CASE("float8: operands are cast before each product, and the input is kept as it came") {
  ModelGraph graph = llama(176);
  REQUIRE_OK(use_float8_products(graph, Fp8Scaling::tensorwise));
  const Operator& q = first_operator(graph, k_linear);  // 32 rows, 64 x 64
  const OperatorDescription tensorwise = describe_operator(graph, q);
  CHECK(tensorwise.saved_inputs == 1);
  CHECK(tensorwise.extras.empty());
  REQUIRE(tensorwise.forward.size() == 5);  // of x and of the weight: the largest element, the cast
  CHECK(tensorwise.forward[0].bytes == Bytes{32 * 64 * 2});
  CHECK(tensorwise.forward[1].bytes == Bytes{32 * 64 * 3});
  CHECK(tensorwise.forward[4].float8);
  CHECK(tensorwise.forward[4].bytes == Bytes{32 * 64 + 64 * 64 + 32 * 64 * 2});
  CHECK(tensorwise.forward_temporaries == Bytes{32 * 64 + 64 * 64});
  CHECK(tensorwise.backward.size() == 8);  // three casts of two kernels, two products
  CHECK(tensorwise.backward_temporaries == Bytes{32 * 64 + 64 * 64});

  ModelGraph by_rows = llama(176);
  REQUIRE_OK(use_float8_products(by_rows, Fp8Scaling::rowwise));
  const OperatorDescription rowwise = describe_operator(by_rows, first_operator(by_rows, k_linear));
  CHECK(rowwise.forward.size() == 3);
  CHECK(rowwise.backward.size() == 6);  // the gradient is cast along either side
}

}  // namespace shardlab::test
