// Source: transformers 5.23, models/llama/modeling_llama.py and configuration_llama.py.
#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

Result<ModelGraph> build_llama(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m, read_llama_like("llama", "Llama", config, options));
  SHARDLAB_TRY(m.qkv_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(m.mlp_bias, config.boolean_or("mlp_bias", false));
  m.output_bias = m.qkv_bias;
  return build_llama_like(m, options);
}

}  // namespace shardlab
