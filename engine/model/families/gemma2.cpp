// Source: transformers 5.23, models/gemma2/modeling_gemma2.py and configuration_gemma2.py: Gemma with norms
// behind attention and network too, soft caps of scores and logits, and a window in every second layer.
#include <cmath>

#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {
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

}  // namespace shardlab
