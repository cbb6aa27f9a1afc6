// Source: transformers 5.23, models/mixtral/modeling_mixtral.py and configuration_mixtral.py: Mistral with
// experts in every layer; the weights of a token's experts add up to 1.
#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

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

}  // namespace shardlab
