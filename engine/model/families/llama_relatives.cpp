// Families that are variations of Llama: what each has besides, with its source in transformers 5.23.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

// Source: transformers 5.23, models/llama/modeling_llama.py and configuration_llama.py.
Result<ModelGraph> build_llama(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m, read_llama_like("llama", "Llama", config, options));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(m.mlp_bias, config.boolean_or("mlp_bias", false));
  m.output_bias = m.qkv_bias;
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/mistral/modeling_mistral.py and configuration_mistral.py: Llama with a
// window over which every layer attends. `null` is none, an absent field 4096.
Result<ModelGraph> build_mistral(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m, read_llama_like("mistral", "Mistral", config, options, {.positions = 4096 * 32}));
  if (!config.is_null("sliding_window")) {
    SHARDLAB_TRY(const std::int64_t window, config.integer_or("sliding_window", 4096));
    m.windows.assign(static_cast<std::size_t>(m.layers), window);
  }
  if (config.has("layer_types"))
    return bad_input(in_file(config.file()), "layer_types: not supported yet in this family",
                     "supported: sliding_window");
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/qwen2/modeling_qwen2.py and configuration_qwen2.py: biases on queries,
// keys and values, whatever the file says.
Result<ModelGraph> build_qwen2(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m, read_llama_like("qwen2", "Qwen2", config, options, {.positions = 32768}));
  SHARDLAB_TRY(m.windows, read_qwen_windows(config, m.layers));
  m.qkv_bias = true;
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/qwen3/modeling_qwen3.py and configuration_qwen3.py: heads of a width of
// their own, norms of queries and keys.
Result<ModelGraph> build_qwen3(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m,
               read_llama_like("qwen3", "Qwen3", config, options, {.positions = 32768, .head_dim = 128}));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(m.windows, read_qwen_windows(config, m.layers));
  m.output_bias = m.qkv_bias;
  m.head_norms = true;
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/gemma/modeling_gemma.py and configuration_gemma.py: norms of 1 + w, a
// scaled embedding, gelu in the gate. `hidden_act: gelu` of the first releases means the tanh form.
Result<ModelGraph> build_gemma(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_CHECK_OK(refuse_if_true(config, {"use_bidirectional_attention"}));
  SHARDLAB_TRY(LlamaLike m, read_llama_like("gemma", "Gemma", config, options,
                                            {.positions = 8192,
                                             .head_dim = 256,
                                             .tied = true,
                                             .activation = "gelu_pytorch_tanh",
                                             .padding = 0}));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  if (m.activation.activation == Activation::gelu) m.activation = {Activation::gelu_tanh, "GELUTanh"};
  m.output_bias = m.qkv_bias;
  m.norm = NormKind::rms_offset;
  m.scaled_embedding = true;
  m.embedding_class = "GemmaTextScaledWordEmbedding";
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/gemma2/modeling_gemma2.py and configuration_gemma2.py: Gemma with norms
// behind attention and network too, soft caps of scores and logits, and a window in every second layer.

namespace {

Result<std::vector<std::int64_t>> read_windows(const ModelConfig& config, std::int64_t layers) {
  SHARDLAB_TRY(std::int64_t window, config.integer_or("sliding_window", 4096));
  if (config.is_null("sliding_window")) window = 0;
  SHARDLAB_TRY(std::vector<std::string> types, config.texts("layer_types"));
  if (types.empty()) {
    for (std::int64_t i = 0; i < layers; ++i)
      types.emplace_back(i % 2 == 0 && window > 0 ? "sliding_attention" : "full_attention");
  }
  return windows_of_types(config, types, window, layers);
}

// `null` is no cap.
Result<double> read_cap(const ModelConfig& config, const char* key, double fallback) {
  if (config.is_null(key)) return 0.0;
  SHARDLAB_TRY(const double cap, config.number_or(key, fallback));
  if (!(cap > 0)) return bad_input(in_file(config.file()), std::string(key) + ": must be positive, or null");
  return cap;
}

}  // namespace

Result<ModelGraph> build_gemma2(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_CHECK_OK(refuse_if_true(config, {"use_bidirectional_attention"}));
  SHARDLAB_TRY(LlamaLike m, read_llama_like("gemma2", "Gemma2", config, options,
                                            {.positions = 8192,
                                             .head_dim = 256,
                                             .tied = true,
                                             .activation_key = "hidden_activation",
                                             .activation = "gelu_pytorch_tanh",
                                             .padding = 0}));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(const double scalar, config.number_or("query_pre_attn_scalar", 256));
  if (!(scalar > 0)) return bad_input(in_file(config.file()), "query_pre_attn_scalar: must be positive");
  SHARDLAB_TRY(m.attention_cap, read_cap(config, "attn_logit_softcapping", 50));
  SHARDLAB_TRY(m.logit_cap, read_cap(config, "final_logit_softcapping", 30));
  SHARDLAB_TRY(m.windows, read_windows(config, m.layers));
  m.attention_scale = 1 / std::sqrt(scalar);
  m.output_bias = m.qkv_bias;
  m.norm = NormKind::rms_offset;
  m.norms_after = true;
  m.scaled_embedding = true;
  m.embedding_class = "Gemma2TextScaledWordEmbedding";
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/mixtral/modeling_mixtral.py and configuration_mixtral.py: Mistral with
// experts in every layer; the weights of a token's experts add up to 1.
Result<ModelGraph> build_mixtral(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m,
               read_llama_like("mixtral", "Mixtral", config, options,
                               {.positions = 4096 * 32, .epsilon = 1e-5, .rope = {.theta = 1e6}}));
  SHARDLAB_TRY(m.experts, read_experts(config, options, 8, 2));
  if (config.has("sliding_window")) {
    SHARDLAB_TRY(const std::int64_t window, config.integer("sliding_window"));
    m.windows.assign(static_cast<std::size_t>(m.layers), window);
  }
  m.experts->width = m.intermediate;
  m.experts->normalized = true;
  m.experts->router_first = true;
  m.experts->layers.assign(static_cast<std::size_t>(m.layers), true);
  if (m.activation.activation != Activation::silu)
    return bad_input(in_file(config.file()), "hidden_act: not supported yet in this family",
                     "supported: silu");
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/qwen3_moe/modeling_qwen3_moe.py and configuration_qwen3_moe.py: Qwen3
// with experts in the layers that decoder_sparse_step and mlp_only_layers leave.

namespace {

Result<LlamaExperts> read_qwen_experts(const ModelConfig& config, const GraphOptions& options,
                                       std::int64_t layers) {
  SHARDLAB_TRY(LlamaExperts experts, read_experts(config, options, 128, 8));
  SHARDLAB_TRY(experts.width, config.integer_or("moe_intermediate_size", 768));
  SHARDLAB_TRY(experts.normalized, config.boolean_or("norm_topk_prob", false));
  SHARDLAB_TRY(const std::int64_t step, config.integer_or("decoder_sparse_step", 1));
  SHARDLAB_TRY(const std::vector<std::int64_t> dense, config.indices("mlp_only_layers"));
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const bool named = std::find(dense.begin(), dense.end(), layer) != dense.end();
    experts.layers.push_back(!named && (layer + 1) % step == 0);
  }
  return experts;
}

}  // namespace

Result<ModelGraph> build_qwen3_moe(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m, read_llama_like("qwen3_moe", "Qwen3Moe", config, options, {.positions = 32768}));
  SHARDLAB_TRY(m.experts, read_qwen_experts(config, options, m.layers));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(const bool windows, config.boolean_or("use_sliding_window", false));
  SHARDLAB_TRY(const std::int64_t window, config.integer_or("sliding_window", 4096));
  if (windows && !config.is_null("sliding_window"))
    m.windows.assign(static_cast<std::size_t>(m.layers), window);
  m.output_bias = m.qkv_bias;
  m.head_norms = true;
  if (m.activation.activation != Activation::silu)
    return bad_input(in_file(config.file()), "hidden_act: not supported yet in this family",
                     "supported: silu");
  return build_llama_like(m, options);
}

// Source: transformers 5.23, models/smollm3/modeling_smollm3.py and configuration_smollm3.py: Llama of which
// some layers turn nothing; where windows are used, those layers have them.

namespace {

// 1 in no_rope_layers: the layer turns queries and keys.
Result<std::vector<bool>> read_layers_without_rope(const ModelConfig& config, std::int64_t layers) {
  std::vector<bool> without;
  if (config.has("no_rope_layers")) {
    SHARDLAB_TRY(const std::vector<std::int64_t> turned, config.indices("no_rope_layers"));
    if (static_cast<std::int64_t>(turned.size()) < layers)
      return bad_input(
          in_file(config.file()),
          fmt::format("no_rope_layers has {} entries, num_hidden_layers is {}", turned.size(), layers));
    for (std::int64_t i = 0; i < layers; ++i) without.push_back(turned[static_cast<std::size_t>(i)] == 0);
    return without;
  }
  SHARDLAB_TRY(const std::int64_t interval, config.integer_or("no_rope_layer_interval", 4));
  for (std::int64_t i = 0; i < layers; ++i) without.push_back((i + 1) % interval == 0);
  return without;
}

}  // namespace

Result<ModelGraph> build_smollm3(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(
      LlamaLike m,
      read_llama_like("smollm3", "SmolLM3", config, options,
                      {.positions = 32768, .tied = true, .rope = {.theta = 2e6}, .padding = 128004}));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(m.mlp_bias, config.boolean_or("mlp_bias", false));
  SHARDLAB_TRY(m.without_rope, read_layers_without_rope(config, m.layers));
  SHARDLAB_TRY(const bool windows, config.boolean_or("use_sliding_window", false));
  SHARDLAB_TRY(const std::vector<std::string> types, config.texts("layer_types"));
  std::int64_t window = 0;
  if (windows && config.has("sliding_window")) {
    SHARDLAB_TRY(window, config.integer("sliding_window"));
  }
  if (window > 0 && !types.empty()) {
    SHARDLAB_TRY(m.windows, windows_of_types(config, types, window, m.layers));
  } else if (window > 0) {
    for (const bool is_without : m.without_rope) m.windows.push_back(is_without ? window : 0);
  }
  m.output_bias = m.qkv_bias;
  return build_llama_like(m, options);
}

}  // namespace shardlab
