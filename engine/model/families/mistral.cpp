// Source: transformers 5.23, models/mistral/modeling_mistral.py and configuration_mistral.py: Llama with a
// window over which every layer attends. `null` is none, an absent field 4096.
#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

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

}  // namespace shardlab
