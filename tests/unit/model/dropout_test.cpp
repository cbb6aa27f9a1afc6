// Where modules of the families drop anything, and what that keeps.
#include "engine/model/families/family.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/partition.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/paths.h"
#include "tests/unit/model/check_programs.h"

namespace shardlab::test {
namespace {

ModelGraph family(const std::string& name, const std::map<std::string, std::string>& overrides,
                  GraphOptions options = {2, 16}) {
  const auto config = ModelConfig::read(data_file("families/" + name + ".json"), overrides);
  REQUIRE_OK(config);
  auto graph = build_model_graph(*config, options);
  REQUIRE_OK(graph);
  return *std::move(graph);
}

// Shares by the path of the module that drops them, "attention" for those of probabilities.
std::map<std::string, double> shares(const ModelGraph& graph) {
  std::map<std::string, double> found;
  for (const Operator& op : graph.operators) {
    const double share = op.attributes.get_or(attribute::k_dropout, 0.0);
    if (share == 0) continue;
    found[op.type == &k_dropout ? graph.module(op.module).path : "attention"] = share;
  }
  return found;
}

// What the second layer keeps for backward.
std::int64_t kept_by_layer(const ModelGraph& graph) {
  const Partition partition = make_partition(graph, wrap_modules(graph, WrapSpec{})->units, {});
  for (const Segment& segment : partition.segments) check_balance(segment);
  return partition.segments[2].programs.saved_bytes.value;
}

}  // namespace

TEST_CASE("GPT-2 drops where transformers' modules do, 10 % where the file does not say") {
  const std::map<std::string, double> stock =
      shares(family("gpt2", {{"resid_pdrop", "null"}, {"embd_pdrop", "null"}, {"attn_pdrop", "0.3"}}));
  CHECK(stock == std::map<std::string, double>{{"attention", 0.3},
                                               {"transformer.drop", 0.1},
                                               {"transformer.h.0.attn.resid_dropout", 0.1},
                                               {"transformer.h.0.mlp.dropout", 0.1},
                                               {"transformer.h.1.attn.resid_dropout", 0.1},
                                               {"transformer.h.1.mlp.dropout", 0.1}});
}

TEST_CASE("an option stands in the place of all shares of the configuration") {
  GraphOptions none{2, 16}, half{2, 16};
  none.dropout = 0;
  half.dropout = 0.5;
  CHECK(shares(family("gpt2", {{"resid_pdrop", "0.2"}}, none)).empty());
  for (const auto& [path, share] : shares(family("phi", {{"resid_pdrop", "0.2"}}, half))) {
    INFO(path);
    CHECK(share == 0.5);
  }
  CHECK(shares(family("llama", {}, half)) == std::map<std::string, double>{{"attention", 0.5}});
  CHECK(shares(family("mpt", {}, half)).size() == 5);  // attention's, and two of each of two layers
}

TEST_CASE("the original MPT drops each by its own field") {
  const std::map<std::string, double> original =
      shares(family("mpt", {{"attn_config", R"({"alibi": false, "attn_pdrop": 0.3})"},
                            {"resid_pdrop", "0.2"},
                            {"emb_pdrop", "0.1"}}));
  CHECK(original.at("attention") == 0.3);
  CHECK(original.at("transformer") == 0.1);
  CHECK(original.at("transformer.blocks.0.resid_attn_dropout") == 0.2);
  CHECK(original.at("transformer.blocks.1.ffn") == 0.2);
}

TEST_CASE(
    "a shipped configuration that leaves out its original's dropout says so, until somebody asks for some") {
  const auto left_out = [](const std::map<std::string, std::string>& overrides,
                           std::optional<double> dropout) {
    const auto config = ModelConfig::read(source_folder() / "assets/models/gpt2/config.json", overrides);
    REQUIRE_OK(config);
    GraphOptions options{1, 16};
    options.dropout = dropout;
    const auto graph = build_model_graph(*config, options);
    REQUIRE_OK(graph);
    return graph->published_dropout;
  };
  CHECK_THAT(left_out({}, {}), contains_text("\"resid_pdrop\":0.1"));
  CHECK(left_out({}, 0.0).empty());
  CHECK(left_out({{"embd_pdrop", "0.1"}}, {}).empty());
  CHECK(family("gpt2", {}).published_dropout.empty());
}

// FalconAttention hands 0 to sdpa where there is no alibi; its sequential layers drop what attention made by
// the share of attention.
TEST_CASE("Falcon drops hidden states, and probabilities with alibi alone") {
  const std::map<std::string, std::string> both{{"hidden_dropout", "0.2"}, {"attention_dropout", "0.3"}};
  const std::map<std::string, double> parallel = shares(family("falcon_new", both));
  CHECK(parallel.size() == 2);
  CHECK(parallel.at("transformer.h.0") == 0.2);
  CHECK(shares(family("falcon_alibi", both)).at("attention") == 0.3);
}

// Korthikanti et al., arXiv 2205.05198, section 4.1: a layer of a transformer in 16 bits keeps s b h (34 + 5
// a s / h) bytes, with dropout of 1, 2 and 5 parts in h, h and a s / h. Norms keep two float32 numbers a
// token besides, which the paper leaves out; the layer's input, which it counts, is what the layer before
// made.
TEST_CASE("a layer of GPT keeps what Korthikanti et al. count") {
  for (const std::int64_t sequences : {1, 3}) {
    GraphOptions options{sequences, 32, DType::bfloat16, DType::bfloat16};
    options.attention = AttentionForm::unfused;
    const auto kept = [&](double dropout) {
      options.dropout = dropout;
      return kept_by_layer(family("gpt2", {}, options)) + 2 * 32 * sequences * 48;
    };
    const std::int64_t s = 32, b = sequences, h = 48, a = 4;
    CHECK(kept(0.1) == 34 * s * b * h + 5 * a * s * s * b + 2 * 8 * s * b);
    CHECK(kept(0) == 32 * s * b * h + 2 * a * s * s * b + 2 * 8 * s * b);
  }
}

}  // namespace shardlab::test
