// Source: transformers 5.23, models/qwen3_moe/modeling_qwen3_moe.py and configuration_qwen3_moe.py: Qwen3
// with experts in the layers that decoder_sparse_step and mlp_only_layers leave.
#include <algorithm>

#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {
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

}  // namespace shardlab
