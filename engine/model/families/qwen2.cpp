// Source: transformers 5.23, models/qwen2/modeling_qwen2.py and configuration_qwen2.py: biases on queries,
// keys and values, whatever the file says.
#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

Result<ModelGraph> build_qwen2(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(LlamaLike m, read_llama_like("qwen2", "Qwen2", config, options, {.positions = 32768}));
  SHARDLAB_TRY(m.windows, read_qwen_windows(config, m.layers));
  m.qkv_bias = true;
  return build_llama_like(m, options);
}

}  // namespace shardlab
