// Source: transformers 5.23, models/gemma/modeling_gemma.py and configuration_gemma.py: norms of 1 + w, a
// scaled embedding, gelu in the gate. `hidden_act: gelu` of the first releases means the tanh form.
#include "engine/model/families/family.h"
#include "engine/model/families/llama_like.h"

namespace shardlab {

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

}  // namespace shardlab
