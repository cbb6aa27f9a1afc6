// Families: published parameter counts, the paths a configuration can take, and what is refused by name.
#include <cmath>

#include "engine/base/paths.h"
#include "engine/model/families/family.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/wrap/wrap_modules.h"
#include "tests/catch.h"
#include "tests/paths.h"

namespace shardlab::test {
namespace {

Result<ModelGraph> graph_of(const std::string& name, const std::map<std::string, std::string>& overrides = {},
                            const GraphOptions& options = {1, 16, DType::float32, DType::float32}) {
  auto config = ModelConfig::read(data_file("families/" + name + ".json"), overrides);
  if (!config) return fail(config.error());
  return build_model_graph(*config, options);
}

std::string refusal(const std::string& name, const std::map<std::string, std::string>& overrides,
                    const GraphOptions& options = {1, 16, DType::float32, DType::float32}) {
  const auto graph = graph_of(name, overrides, options);
  return graph ? "accepted" : to_string(graph.error());
}

std::vector<const Operator*> operators_of(const ModelGraph& graph, const OperatorType& type) {
  std::vector<const Operator*> found;
  for (const Operator& op : graph.operators) {
    if (op.type == &type) found.push_back(&op);
  }
  return found;
}

struct Published {
  const char* name;
  std::int64_t total, per_layer;
};

// Counts that model cards, or tools that count checkpoints, give; each is what the configuration's shapes add
// up to.
constexpr Published k_published[] = {
    {"llama-2-7b", 6'738'415'616, 202'383'360},
    {"llama-2-13b", 13'015'864'320, 317'204'480},
    {"llama-2-70b", 68'976'648'192, 855'654'400},
    {"llama-3-8b", 8'030'261'248, 218'112'000},
    {"llama-3-70b", 70'553'706'496, 855'654'400},
    {"llama-3.1-8b", 8'030'261'248, 218'112'000},
    {"llama-3.1-70b", 70'553'706'496, 855'654'400},
    {"llama-3.2-1b", 1'235'814'400, 60'821'504},
    {"llama-3.2-3b", 3'212'749'824, 100'669'440},
    {"mistral-7b", 7'241'732'096, 218'112'000},
    {"gpt2", 124'439'808, 7'087'872},
    {"gpt2-medium", 354'823'168, 12'596'224},
    {"gpt2-large", 774'030'080, 19'677'440},
    {"gpt2-xl", 1'557'611'200, 30'740'800},
    {"falcon-7b", 6'921'720'704, 207'070'080},
    {"falcon-40b", 41'303'293'952, 679'510'016},
    {"phi-1.5", 1'418'270'720, 50'354'176},
    {"phi-2", 2'779'683'840, 78'671'360},
    {"gemma-2b", 2'506'172'416, 110'104'576},
    {"gemma-7b", 8'537'680'896, 276'830'208},
    {"gemma-2-2b", 2'614'341'888, 77'865'984},
    {"gemma-2-9b", 9'241'705'984, 198'195'200},
    {"qwen2-0.5b", 494'032'768, 14'912'384},
    {"qwen2-7b", 7'615'616'512, 233'057'792},
    {"qwen2.5-7b", 7'615'616'512, 233'057'792},
    {"qwen2.5-72b", 72'706'203'648, 877'684'736},
    {"qwen3-0.6b", 596'049'920, 15'730'944},
    {"qwen3-8b", 8'190'735'360, 192'946'432},
    {"qwen3-32b", 32'762'123'264, 487'598'336},
    {"mpt-7b", 6'649'286'656, 201'334'784},
    {"mixtral-8x7b", 46'702'792'704, 1'451'270'144},
    {"qwen3-30b-a3b", 30'532'122'624, 623'120'640},
};

}  // namespace

TEST_CASE("parameter counts of the known models are the published ones") {
  for (const Published& model : k_published) {
    INFO(model.name);
    const auto path = find_asset(std::string("models/") + model.name + "/config.json");
    REQUIRE(path);
    const auto config = ModelConfig::read(*path, {});
    REQUIRE_OK(config);
    const auto graph = build_model_graph(*config, GraphOptions{});
    REQUIRE_OK(graph);
    CHECK(total_parameters(*graph) == model.total);
    CHECK(parameters_per_layer(*graph) == model.per_layer);
  }
}

TEST_CASE("active parameters leave out the experts a token does not visit") {
  const auto active = [](const std::string& name) {
    const auto config = ModelConfig::read(*find_asset("models/" + name + "/config.json"), {});
    REQUIRE_OK(config);
    const auto graph = build_model_graph(*config, GraphOptions{});
    REQUIRE_OK(graph);
    return active_parameters(*graph);
  };
  CHECK(active("qwen3-30b-a3b") == 3'353'032'704);
  CHECK(active("mixtral-8x7b") == 12'879'925'248);
  CHECK(active("llama-3.2-1b") == 1'235'814'400);
}

TEST_CASE("windows go to the layers that have them, and only where they are narrower than the sequence") {
  const auto windows = [](const std::string& name, const std::map<std::string, std::string>& overrides) {
    const auto graph = graph_of(name, overrides);
    REQUIRE_OK(graph);
    std::vector<std::int64_t> found;
    for (const Operator* op : operators_of(*graph, k_attention))
      found.push_back(op->attributes.get_or(attribute::k_window, 0));
    return found;
  };
  using Windows = std::vector<std::int64_t>;
  CHECK(windows("mistral", {}) == Windows{7, 7});
  CHECK(windows("mistral", {{"sliding_window", "null"}}) == Windows{0, 0});
  CHECK(windows("mistral", {{"sliding_window", "16"}}) == Windows{0, 0});
  CHECK(windows("qwen2_windows", {}) == Windows{0, 5});
  CHECK(windows("qwen2_windows", {{"max_window_layers", "0"}}) == Windows{5, 5});
  CHECK(windows("qwen2_windows", {{"use_sliding_window", "false"}}) == Windows{0, 0});
  CHECK(windows("qwen3", {{"use_sliding_window", "true"},
                          {"sliding_window", "4"},
                          {"layer_types", "[\"sliding_attention\", \"full_attention\"]"}}) == Windows{4, 0});
  CHECK(windows("gemma2", {}) == Windows{6, 0});
}

TEST_CASE("what changes attention's scores reaches the operator") {
  const auto gemma2 = graph_of("gemma2");
  REQUIRE_OK(gemma2);
  const Attributes& attributes = operators_of(*gemma2, k_attention)[0]->attributes;
  CHECK(attributes.get(attribute::k_soft_cap) == 2);
  CHECK(attributes.get(attribute::k_scale) == Approx(1 / std::sqrt(12.0)));
  CHECK(operators_of(*gemma2, k_soft_cap).size() == 1);
  const auto open =
      graph_of("gemma2", {{"final_logit_softcapping", "null"}, {"attn_logit_softcapping", "null"}});
  REQUIRE_OK(open);
  CHECK(operators_of(*open, k_soft_cap).empty());
  CHECK_FALSE(operators_of(*open, k_attention)[0]->attributes.find(attribute::k_soft_cap));
  const auto by_layer = graph_of("gpt2_by_layer");
  REQUIRE_OK(by_layer);
  const auto attentions = operators_of(*by_layer, k_attention);
  CHECK(attentions[1]->attributes.get(attribute::k_scale) ==
        Approx(attentions[0]->attributes.get(attribute::k_scale) / 2));
}

TEST_CASE("a sequence may be longer than the model's positions with dynamic rotary scaling only") {
  const GraphOptions longer{1, 65, DType::float32, DType::float32};
  REQUIRE_OK(graph_of("llama_dynamic", {}, longer));
  for (const char* name : {"llama", "mistral", "qwen3", "gemma", "phi", "falcon_new", "falcon_alibi"}) {
    INFO(name);
    CHECK_THAT(refusal(name, {}, longer), contains_text("max_position_embeddings 64"));
  }
  CHECK_THAT(refusal("gpt2", {}, longer), contains_text("n_positions 64"));
  CHECK_THAT(refusal("mpt", {}, longer), contains_text("max_seq_len 64"));
}

TEST_CASE("fields that are missing, contradict each other or are absurd are refused by name") {
  struct Case {
    const char *family, *key, *value, *says;
  };
  for (const Case& c : {
           Case{"llama", "num_attention_heads", "5",
                "num_attention_heads 5 must be a multiple of num_key_value_heads 2"},
           Case{"llama", "num_key_value_heads", "3",
                "num_attention_heads 4 must be a multiple of num_key_value_heads 3"},
           Case{"llama", "hidden_size", "49", "hidden_size 49 must be a multiple of num_attention_heads 4"},
           Case{"llama", "hidden_size", "null", "hidden_size: missing"},
           Case{"llama", "num_hidden_layers", "-2", "num_hidden_layers: expected an integer from 1"},
           Case{"llama", "num_hidden_layers", "1000000000", "num_hidden_layers: 1000000000 layers"},
           Case{"llama", "vocab_size", "1000000000000", "vocab_size: expected an integer from 1"},
           Case{"llama", "intermediate_size", "2000000000", "accepted"},  // 10^12 parameters
           Case{"gpt2", "n_embd", "2000000000", "parameters are more than any model has"},
           Case{"llama", "vocab_size", "1.5", "vocab_size: expected an integer"},
           Case{"llama", "head_dim", "7", "head_dim 7"},
           Case{"llama", "attention_dropout", "1.5", "attention_dropout: 1.5 is no share from 0 to 1"},
           Case{"llama", "hidden_act", "relu2", "hidden_act: not supported yet: relu2"},
           Case{"llama", "pad_token_id", "130", "pad_token_id: 130 is no token"},
           Case{"llama", "rms_norm_eps", "\"small\"", "rms_norm_eps: expected a number"},
           Case{"llama", "rope_parameters", "{\"rope_type\": \"longrope\"}",
                "rope_type: not supported yet: longrope"},
           Case{"llama", "rope_parameters", "{\"rope_type\": \"linear\"}", "factor: missing"},
           Case{"llama", "rope_parameters", "{\"rope_type\": \"yarn\", \"factor\": -1}",
                "factor: must be positive"},
           Case{"mistral", "sliding_window", "0", "sliding_window: expected an integer from 1"},
           Case{"qwen3", "layer_types", "[\"full_attention\"]",
                "layer_types has 1 entries, num_hidden_layers is 2"},
           Case{"qwen3", "layer_types", "[\"chunked\", \"chunked\"]",
                "layer_types: not supported yet: chunked"},
           Case{"qwen3", "layer_types", "[\"sliding_attention\", \"full_attention\"]",
                "there is no sliding_window"},
           Case{"gemma2", "attn_logit_softcapping", "-1", "attn_logit_softcapping: must be positive"},
           Case{"gemma2", "query_pre_attn_scalar", "0", "query_pre_attn_scalar: must be positive"},
           Case{"gemma", "use_bidirectional_attention", "true",
                "use_bidirectional_attention: not supported yet"},
           Case{"gpt2", "attn_pdrop", "-0.1", "attn_pdrop: -0.1 is no share from 0 to 1"},
           Case{"gpt2", "n_head", "5", "n_embd 48 must be a multiple of n_head 5"},
           Case{"gpt2", "add_cross_attention", "true", "add_cross_attention: not supported yet"},
           Case{"gpt2", "activation_function", "\"silu\"",
                "activation_function: not supported yet in this family"},
           Case{"mpt", "resid_pdrop", "0.1", "resid_pdrop: 0.1 has no effect"},
           Case{"falcon_new", "parallel_attn", "false", "parallel_attn is false"},
           Case{"falcon_new", "num_kv_heads", "4",
                "num_attention_heads 6 must be a multiple of num_kv_heads 4"},
           Case{"falcon_new", "num_ln_in_parallel_attn", "3", "num_ln_in_parallel_attn: 1 or 2"},
           Case{"falcon_multi_query", "num_ln_in_parallel_attn", "2", "needs new_decoder_architecture"},
           Case{"mpt", "attn_config", "{\"alibi\": false}", "accepted"},
           Case{"mpt", "norm_type", "\"rmsnorm\"", "norm_type: not supported yet: rmsnorm"},
           Case{"mpt", "attn_config", "{\"clip_qkv\": 8}", "clip_qkv: not supported yet: 8"},
           Case{"mixtral", "num_experts_per_tok", "6", "num_experts_per_tok 6 is above num_local_experts 5"},
           Case{"mixtral", "router_jitter_noise", "0.1", "router_jitter_noise: not supported yet: 0.1"},
           Case{"mixtral", "output_router_logits", "true", "accepted"},
           Case{"mixtral", "router_aux_loss_coef", "-1", "router_aux_loss_coef: below 0: -1"},
           Case{"qwen3_moe", "mlp_only_layers", "[-1]",
                "mlp_only_layers: expected a list of integers from 0"},
           Case{"qwen3_moe", "moe_intermediate_size", "2000000000", "accepted"},
           Case{"mpt", "no_bias", "false", "no_bias: not supported yet: false"},
           Case{"mpt", "expansion_ratio", "3", "expansion_ratio"},
           Case{"mpt", "attn_config", "3", "attn_config: expected an object"},
       }) {
    INFO(c.family << " " << c.key << " " << c.value);
    CHECK_THAT(refusal(c.family, {{c.key, c.value}}), contains_text(c.says));
  }
}

// llm-foundry's modules are GPT-2's with another activation; GPT-2 is compared with transformers.
TEST_CASE("MPT without alibi has learned positions and biases, operator for operator like GPT-2") {
  const auto mpt = graph_of("mpt", {{"attn_config", "{\"alibi\": false}"}, {"no_bias", "false"}});
  const auto gpt2 = graph_of("gpt2", {{"n_embd", "48"},
                                      {"n_layer", "2"},
                                      {"n_head", "6"},
                                      {"vocab_size", "130"},
                                      {"n_positions", "64"},
                                      {"activation_function", "\"gelu\""}});
  REQUIRE_OK(mpt);
  REQUIRE_OK(gpt2);
  const auto names = [](const ModelGraph& graph) {
    std::vector<std::string> listed;
    for (const Operator& op : graph.operators)
      listed.push_back(std::string(op.type->name) + " " + std::to_string(op.parameters.size()));
    return listed;
  };
  CHECK(names(*mpt) == names(*gpt2));
  CHECK(total_parameters(*mpt) == total_parameters(*gpt2));
  const auto bare = graph_of("mpt", {{"attn_config", "{\"alibi\": false}"}, {"learned_pos_emb", "false"}});
  REQUIRE_OK(bare);
  CHECK(operators_of(*bare, k_add_positions).empty());
}

TEST_CASE("layers without rotary positions follow from the list, or from the interval") {
  const auto turned = [](const std::map<std::string, std::string>& overrides) {
    const auto graph = graph_of("smollm3", overrides);
    REQUIRE_OK(graph);
    return operators_of(*graph, k_rope).size();
  };
  CHECK(turned({}) == 4);  // of three layers the second has none; queries and keys
  CHECK(turned({{"no_rope_layers", "[1, 1, 1]"}}) == 6);
  CHECK(turned({{"no_rope_layers", "[0, 0, 1, 1]"}}) == 2);
  CHECK_THAT(refusal("smollm3", {{"no_rope_layers", "[1, 0]"}}),
             contains_text("no_rope_layers has 2 entries"));
}

TEST_CASE("an unknown family is refused with the nearest, or with all that are known") {
  CHECK_THAT(refusal("llama", {{"model_type", "qwen_3"}}), contains_text("did you mean 'qwen3'"));
  CHECK_THAT(refusal("llama", {{"model_type", "opt"}}), contains_text("the family opt is not built"));
  const std::string far = refusal("llama", {{"model_type", "state_space"}});
  for (const Family& family : families()) CHECK_THAT(far, contains_text(std::string(family.model_type)));
}

TEST_CASE("the layer class of another family is answered with this model's") {
  for (const char* name : {"gpt2", "falcon_new", "mpt", "phi", "qwen3", "gemma2"}) {
    const auto graph = graph_of(name);
    REQUIRE_OK(graph);
    for (const char* wrong : {"LlamaDecoderLayer", "TransformerBlock", "GPT2LayerBlock"}) {
      WrapSpec wrap;
      wrap.policy = WrapPolicyKind::transformer;
      wrap.classes = {wrong};
      const auto wrapped = wrap_modules(*graph, wrap);
      REQUIRE_FALSE(wrapped);
      INFO(name << " " << wrong);
      CHECK_THAT(to_string(wrapped.error()), contains_text("'" + graph->block_class + "'"));
    }
  }
}

}  // namespace shardlab::test
