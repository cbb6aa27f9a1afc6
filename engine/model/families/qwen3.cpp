// Source: transformers 5.23, models/qwen3/modeling_qwen3.py and configuration_qwen3.py: heads of a width of
// their own, norms of queries and keys.
#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

Result<ModelGraph> build_qwen3(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m,
               read_llama_like("qwen3", "Qwen3", config, options, {.positions = 32768, .head_dim = 128}));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(m.windows, read_qwen_windows(config, m.layers));
  m.output_bias = m.qkv_bias;
  m.head_norms = true;
  return build_llama_like(m, options);
}

}  // namespace shardlab
