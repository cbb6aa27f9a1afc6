// The graph passes that choose other operators: eager ones, chunked losses.
#include <algorithm>
#include <map>

#include "engine/model/eager.h"
#include "engine/model/families/family.h"
#include "engine/model/loss_operators.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

Result<ModelGraph> family(const std::string& name, Implementation implementation,
                          std::int64_t sequence = 24) {
  const auto config = ModelConfig::read(test::data_file("families/" + name + ".json"), {});
  REQUIRE_OK(config);
  GraphOptions options{2, sequence, DType::bfloat16, DType::bfloat16};
  options.implementation = implementation;
  return build_model_graph(*config, options);
}

ModelGraph built(const std::string& name, Implementation implementation = Implementation::fused) {
  auto graph = family(name, implementation);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

std::map<std::string_view, int> counts(const ModelGraph& graph) {
  std::map<std::string_view, int> result;
  for (const Operator& op : graph.operators) ++result[op.type->name];
  return result;
}

using Counts = std::map<std::string_view, int>;

TEST_CASE("eager: memory-bound operators change, products, attention and sums stay") {
  CHECK(counts(built("llama", Implementation::eager)) == Counts{{"add", 4},
                                                                {"attention", 2},
                                                                {"eager_cross_entropy", 1},
                                                                {"eager_rms_norm", 5},
                                                                {"eager_rope", 4},
                                                                {"embedding", 1},
                                                                {"linear", 15},
                                                                {"multiply", 2},
                                                                {"silu", 2}});
  CHECK(counts(built("gpt2", Implementation::eager)) == Counts{{"add", 4},
                                                               {"add_positions", 1},
                                                               {"attention", 2},
                                                               {"eager_cross_entropy", 1},
                                                               {"eager_gelu_new", 2},
                                                               {"embedding", 1},
                                                               {"layer_norm", 5},
                                                               {"linear", 9}});
  const Counts gemma2 = counts(built("gemma2", Implementation::eager));
  CHECK(gemma2.at("gelu") == 2);
  CHECK(gemma2.at("multiply") == 2);
  CHECK(gemma2.at("eager_soft_cap") == 1);
  CHECK(gemma2.at("eager_capped_attention") == 2);
}

TEST_CASE("eager: a rotary table has both halves, in the dtype it is multiplied in") {
  const ModelGraph fused = built("llama"), eager = built("llama", Implementation::eager);
  const auto table = [](const ModelGraph& graph) {
    return *std::find_if(graph.tensors.begin(), graph.tensors.end(),
                         [](const Tensor& tensor) { return tensor.role == TensorRole::constant; });
  };
  CHECK(table(fused).shape == Shape{2, 24, 6});
  CHECK(table(fused).dtype == DType::float32);
  CHECK(table(eager).shape == Shape{2, 24, 12});
  CHECK(table(eager).dtype == DType::bfloat16);
  CHECK(structure_hash(fused) != structure_hash(eager));
}

TEST_CASE("eager: scores of Mpt are hidden by a mask that all layers share") {
  const ModelGraph fused = built("mpt"), eager = built("mpt", Implementation::eager);
  CHECK(counts(eager).at("eager_attention") == 2);
  CHECK(eager.tensors.size() == fused.tensors.size() + 1);
  const Tensor& mask = eager.tensors.back();
  CHECK(mask.role == TensorRole::constant);
  CHECK(mask.shape == Shape{2, 1, 24, 24});
  CHECK(mask.bytes() == Bytes{2 * 24 * 24});
  for (const Operator& op : eager.operators) {
    if (op.type == &k_eager_attention) CHECK(op.inputs.back().index() == eager.tensors.size() - 1);
  }
}

TEST_CASE("eager: layers of Gemma 2 share a mask with those of the same window") {
  const ModelGraph graph = built("gemma2", Implementation::eager);
  std::map<std::int64_t, TensorId> masks;
  for (const Operator& op : graph.operators) {
    if (op.type != &k_eager_capped_attention) continue;
    REQUIRE(op.inputs.size() == 4);
    masks.emplace(op.attributes.get_or(attribute::k_window, 0), op.inputs[3]);
    const Tensor& mask = graph.tensor(op.inputs[3]);
    CHECK(mask.role == TensorRole::constant);
    CHECK(mask.shape == Shape{2, 1, 24, 24});
    CHECK(mask.dtype == DType::bfloat16);
  }
  REQUIRE(masks.size() == 2);
  CHECK(masks.at(0) != masks.at(6));
  CHECK(graph.tensors.size() == built("gemma2").tensors.size() + 2 + 2);  // two activations of gates
}

TEST_CASE(
    "eager: layers with a window are handed a mask, one for all sequences, unless it is longer than they") {
  const auto masks_of = [](const char* name, std::int64_t sequence) {
    const auto graph = family(name, Implementation::eager, sequence);
    REQUIRE_OK(graph);
    std::vector<Shape> masks;
    for (const Operator& op : graph->operators) {
      if (op.type != &k_eager_windowed_attention) continue;
      const Tensor& mask = graph->tensor(op.inputs.at(3));
      CHECK(mask.role == TensorRole::constant);
      CHECK(mask.dtype == DType::uint8);
      masks.push_back(mask.shape);
    }
    return masks;
  };
  using Masks = std::vector<Shape>;
  CHECK(masks_of("mistral", 24) == Masks{{1, 1, 24, 24}, {1, 1, 24, 24}});
  CHECK(masks_of("mistral", 7) == Masks{{1, 1, 7, 7}, {1, 1, 7, 7}});
  CHECK(masks_of("mistral", 6).empty());
  CHECK(masks_of("qwen2_windows", 24) == Masks{{1, 1, 24, 24}});
  CHECK(masks_of("mixtral", 24).size() == 2);
  CHECK(masks_of("llama", 24).empty());
}

const Operator& first_of(const ModelGraph& graph, const OperatorType& type) {
  return *std::find_if(graph.operators.begin(), graph.operators.end(),
                       [&](const Operator& op) { return op.type == &type; });
}

TEST_CASE("eager: heads of Falcon are in sections, keys and values repeated for each query head but one") {
  for (const auto& [name, key_heads] : {std::pair{"falcon_multi_query", 1}, {"falcon_new", 6}}) {
    INFO(name);
    const ModelGraph graph = built(name, Implementation::eager);
    CHECK(counts(graph).at("eager_packed_rope") == 2);
    const Operator& attention = first_of(graph, k_attention);
    CHECK(attention.attributes.get(attribute::k_packed) == Packing::sections);
    CHECK(attention.attributes.get(attribute::k_kv_heads) == key_heads);
    CHECK(graph.tensor(attention.inputs[0]).shape == Shape{2, 24, (6 + 2 * key_heads) * 8});
  }
}

TEST_CASE("eager: alibi of Falcon is a matrix for each head, in the dtype of the scores") {
  const ModelGraph graph = built("falcon_alibi", Implementation::eager);
  const Operator& attention = first_of(graph, k_eager_masked_attention);
  const Tensor& mask = graph.tensor(attention.inputs[1]);
  CHECK(mask.shape == Shape{2, 6, 24, 24});
  CHECK(mask.dtype == DType::bfloat16);
  CHECK(mask.role == TensorRole::constant);
}

TEST_CASE("eager: heads of Falcon that no operator takes apart are refused by name") {
  const auto refused = [](const std::string& name, const std::map<std::string, std::string>& fields) {
    const auto config = ModelConfig::read(test::data_file("families/" + name + ".json"), fields);
    REQUIRE_OK(config);
    GraphOptions options{2, 24, DType::bfloat16, DType::bfloat16};
    REQUIRE_OK(build_model_graph(*config, options));
    options.implementation = Implementation::eager;
    const auto graph = build_model_graph(*config, options);
    REQUIRE_FALSE(graph.has_value());
    CHECK(where_text(graph.error()) == "model.implementation");
    return graph.error().what;
  };
  CHECK_THAT(refused("falcon_alibi", {{"multi_query", "true"}}), test::contains_text("alibi with keys"));
  CHECK_THAT(refused("falcon_new", {{"alibi", "true"}}), test::contains_text("alibi with keys"));
  CHECK_THAT(refused("falcon_new", {{"num_kv_heads", "6"}}), test::contains_text("new_decoder_architecture"));
  CHECK_THAT(refused("falcon_new", {{"num_kv_heads", "1"}}), test::contains_text("new_decoder_architecture"));
  CHECK_THAT(refused("falcon_multi_query", {{"multi_query", "false"}}),
             test::contains_text("rotary positions"));
}

TEST_CASE("a chunked loss takes the place of head and cross-entropy") {
  for (const char* name : {"llama", "gpt2", "phi", "qwen3_moe", "falcon_new", "mpt"}) {
    const ModelGraph plain = built(name);
    ModelGraph chunked = plain;
    REQUIRE_OK(chunk_loss(chunked, LossChunks::of_tokens, 4));
    INFO(name);
    CHECK(chunked.operators.size() == plain.operators.size() - 1);
    CHECK(chunked.tensors.size() == plain.tensors.size() - 1);
    const Operator &head = plain.operators[plain.operators.size() - 2], &loss = chunked.operators.back();
    CHECK(loss.type == &k_token_chunked_loss);
    CHECK(loss.parameters == head.parameters);
    CHECK(loss.module == head.module);
    CHECK(loss.inputs.front() == head.inputs.front());
    CHECK(loss.outputs == std::vector<TensorId>{chunked.loss});
    CHECK(chunked.tensor(loss.inputs.back()).role == TensorRole::targets);
    CHECK(chunked.tensor(chunked.loss).label == "loss");
    for (const Operator& op : chunked.operators) {
      for (const TensorId id : op.outputs) CHECK(id.index() < chunked.tensors.size());
    }
  }
}

TEST_CASE("a chunked loss is refused where logits are changed before the loss") {
  ModelGraph graph = built("gemma2");
  const Status done = chunk_loss(graph, LossChunks::of_vocabulary, 4);
  REQUIRE_FALSE(done.has_value());
  CHECK(where_text(done.error()) == "model.loss");
  CHECK_THAT(done.error().what, test::contains_text("gemma2"));
}

}  // namespace
}  // namespace shardlab
