// Decoders built like Llama: embedding, layers of norm, attention with rotary positions, norm, gated
// feed-forward network, a last norm, a head. Families differ in the values below and in the names of their
// classes, which all begin with the same word.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/model/families/config_fields.h"
#include "engine/model/families/decoder_parts.h"

namespace shardlab {

// Experts in place of the network of some layers.
struct LlamaExperts {
  std::int64_t count = 0, per_token = 0, width = 0;
  bool normalized = false, router_first = false;
  double router_loss = 0;    // weight of the balancing loss; 0: there is none
  std::vector<bool> layers;  // which have them
};

struct LlamaLike {
  std::string family;  // model_type
  std::string prefix;  // of class names: "Llama" gives LlamaForCausalLM, LlamaDecoderLayer ...
  std::int64_t hidden = 0, intermediate = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t vocabulary = 0, positions = 0;
  double epsilon = 0, initializer_range = 0;
  bool tied = false;
  NamedActivation activation;
  RopeFields rope;
  std::optional<std::int64_t> padding;  // the token without a gradient of its embedding

  bool qkv_bias = false, output_bias = false, mlp_bias = false;
  bool head_norms = false;  // of queries and keys, before they are turned
  NormKind norm = NormKind::rms;
  bool norms_after = false;  // a second norm behind attention and behind the network, before they are added
  bool scaled_embedding = false;  // by sqrt(hidden)
  std::string embedding_class = "Embedding";
  double attention_dropout = 0;
  double attention_scale = 0;               // 0: 1 / sqrt(head_dim)
  double attention_cap = 0, logit_cap = 0;  // soft caps; 0: none
  std::optional<LlamaExperts> experts;
  std::vector<std::int64_t> windows;  // by layer, 0: none; empty: no layer has one
  std::vector<bool> without_rope;     // by layer: attention knows no positions; empty: in every layer it does
};

// What differs between families when the same fields are read; defaults of their configuration classes.
struct LlamaLikeDefaults {
  std::int64_t positions = 2048;
  std::int64_t head_dim = 0;  // 0: hidden_size / num_attention_heads
  double epsilon = 1e-6;
  bool tied = false;
  const char* activation_key = "hidden_act";
  const char* activation = "silu";
  RopeDefaults rope = {};
  std::optional<std::int64_t> padding = {};
};

// The fields that all have; families add their own to the result.
Result<LlamaLike> read_llama_like(std::string family, std::string prefix, const ModelConfig& config,
                                  const GraphOptions& options, const LlamaLikeDefaults& defaults = {});

// Windows by layer from layer_types, or else from use_sliding_window and max_window_layers (Qwen).
Result<std::vector<std::int64_t>> read_qwen_windows(const ModelConfig& config, std::int64_t layers);
// Windows from layer_types ("full_attention", "sliding_attention"); every layer must have one.
Result<std::vector<std::int64_t>> windows_of_types(const ModelConfig& config,
                                                   const std::vector<std::string>& types, std::int64_t window,
                                                   std::int64_t layers);

// num_experts (transformers 4) or num_local_experts, num_experts_per_tok; with output_router_logits the
// weight of the balancing loss, router_aux_loss_coef, unless the options have one. Refuses a router with
// noise. Defaults of the family.
Result<LlamaExperts> read_experts(const ModelConfig& config, const GraphOptions& options, std::int64_t count,
                                  std::int64_t per_token);

ModelGraph build_llama_like(const LlamaLike& model, const GraphOptions& options);

}  // namespace shardlab
