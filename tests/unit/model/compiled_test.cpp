// What compiled models keep for backward, against what autograd held of transformers' modules under
// torch.compile (torch 2.11, transformers 5.23, processors): 2 sequences of 32 tokens, hidden 64, inner 176,
// 4 heads.
#include <set>

#include "engine/model/families/family.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab {
namespace {

using Overrides = std::map<std::string, std::string>;

const Overrides k_llama{{"hidden_size", "64"},
                        {"intermediate_size", "176"},
                        {"num_hidden_layers", "2"},
                        {"num_attention_heads", "4"},
                        {"num_key_value_heads", "2"},
                        {"vocab_size", "256"},
                        {"max_position_embeddings", "64"}};
const Overrides k_gpt2{{"n_embd", "64"}, {"n_inner", "176"},    {"n_layer", "2"},
                       {"n_head", "4"},  {"vocab_size", "256"}, {"n_positions", "64"}};

ModelGraph built(const std::string& family, DType dtype, CompileScope compile) {
  const auto config =
      ModelConfig::read(test::data_file("families/" + family + ".json"), family == "gpt2" ? k_gpt2 : k_llama);
  REQUIRE_OK(config);
  GraphOptions options{2, 32, dtype, dtype};
  options.implementation = Implementation::eager;
  options.compile = compile;
  options.compiled_loss = compile == CompileScope::whole;
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

bool lies_in(const ModelGraph& graph, ModuleId module, std::string_view path) {
  const std::string& own = graph.module(module).path;
  return own == path || own.starts_with(std::string(path) + ".");
}

// What the operators below a module keep; empty: all of them.
std::int64_t kept_bytes(const ModelGraph& graph, std::string_view path) {
  std::set<TensorId> kept;
  std::int64_t bytes = 0;
  for (const Operator& op : graph.operators) {
    if (!path.empty() && !lies_in(graph, op.module, path)) continue;
    const OperatorDescription description = describe_operator(graph, op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      if ((description.saved_inputs >> i & 1U) != 0) kept.insert(op.inputs[i]);
    for (std::size_t i = 0; i < op.outputs.size(); ++i)
      if ((description.saved_outputs >> i & 1U) != 0) kept.insert(op.outputs[i]);
    for (const ExtraTensor& extra : description.extras)
      bytes += bytes_of(element_count(extra.shape), extra.dtype).value;
  }
  for (const TensorId id : kept)
    if (graph.tensor(id).role != TensorRole::constant) bytes += graph.tensor(id).bytes().value;
  return bytes;
}

std::int64_t block_keeps(const std::string& family, DType dtype, CompileScope compile) {
  return kept_bytes(built(family, dtype, compile), family == "gpt2" ? "transformer.h.1" : "model.layers.1");
}

TEST_CASE("a compiled block keeps what autograd held of one") {
  CHECK(block_keeps("llama", DType::bfloat16, CompileScope::blocks) == 126'464);
  CHECK(block_keeps("llama", DType::float32, CompileScope::blocks) == 251'392);
  CHECK(block_keeps("gpt2", DType::float32, CompileScope::blocks) == 223'232);
  // On processors LayerNorm's four statistics a block are in 16 bits; ours are in float32, as on GPUs.
  CHECK(block_keeps("gpt2", DType::bfloat16, CompileScope::blocks) == 112'128 + 4 * 128);
}

TEST_CASE("without a compiler it keeps more") {
  CHECK(block_keeps("llama", DType::bfloat16, CompileScope::none) == 181'760);
}

// Recorded: 323,876 bytes, of which 4,096 are the mask that all layers share, here a constant. Ours are 1.4 %
// more: the embedding's output and the sums of the residual stream are other tensors there.
TEST_CASE("the whole model compiled keeps keys and values of every head, and logits as they are") {
  const ModelGraph graph = built("llama", DType::bfloat16, CompileScope::whole);
  CHECK(static_cast<double>(kept_bytes(graph, "")) == Approx(323'876.0).epsilon(0.015));
  CHECK(kept_bytes(graph, "model.layers.1") > block_keeps("llama", DType::bfloat16, CompileScope::blocks));
}

TEST_CASE("products and attention are no compiler's, memory-bound operators of a block are") {
  const ModelGraph graph = built("llama", DType::bfloat16, CompileScope::blocks);
  for (const Operator& op : graph.operators) {
    INFO(op.type->name << " of " << graph.module(op.module).path);
    const bool in_block = graph.module(op.module).path.starts_with("model.layers");
    const bool expected = in_block && op.type->category == OperatorCategory::memory_bound;
    CHECK(op.attributes.get_or(attribute::k_compiled, false) == expected);
  }
}

TEST_CASE("a whole model without a form of attention that takes a mask is refused") {
  const auto config = ModelConfig::read(test::data_file("families/gpt2.json"), k_gpt2);
  REQUIRE_OK(config);
  GraphOptions options{2, 32, DType::bfloat16, DType::bfloat16};
  options.implementation = Implementation::eager;
  options.compile = CompileScope::whole;
  const auto graph = build_model_graph(*config, options);
  REQUIRE(!graph);
  CHECK(graph.error().what.find("whole") != std::string::npos);
  CHECK(graph.error().hint == "use blocks");
}

}  // namespace
}  // namespace shardlab
