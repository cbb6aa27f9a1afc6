#include <algorithm>

#include <fmt/core.h>

#include "engine/model/families/llama_like.h"

namespace shardlab {

Result<LlamaLike> read_llama_like(std::string family, std::string prefix, const ModelConfig& config,
                                  const GraphOptions& options, const LlamaLikeDefaults& defaults) {
  LlamaLike m;
  m.family = std::move(family);
  m.prefix = std::move(prefix);
  SHARDLAB_TRY(m.hidden, config.integer("hidden_size"));
  SHARDLAB_TRY(m.intermediate, config.integer("intermediate_size"));
  SHARDLAB_TRY(m.layers, config.layers("num_hidden_layers"));
  SHARDLAB_TRY(m.heads, config.integer("num_attention_heads"));
  SHARDLAB_TRY(m.kv_heads, config.integer_or("num_key_value_heads", m.heads));
  const std::int64_t share = std::max<std::int64_t>(1, m.hidden / m.heads);
  SHARDLAB_TRY(m.head_dim, config.integer_or("head_dim", defaults.head_dim > 0 ? defaults.head_dim : share));
  SHARDLAB_TRY(m.vocabulary, config.integer("vocab_size"));
  SHARDLAB_TRY(m.positions, config.integer_or("max_position_embeddings", defaults.positions));
  SHARDLAB_TRY(m.epsilon, config.number_or("rms_norm_eps", defaults.epsilon));
  SHARDLAB_TRY(m.initializer_range, config.number_or("initializer_range", 0.02));
  SHARDLAB_TRY(m.tied, config.boolean_or("tie_word_embeddings", defaults.tied));
  SHARDLAB_TRY(m.activation, read_activation(config, defaults.activation_key, defaults.activation));
  SHARDLAB_TRY(m.padding, read_padding(config, m.vocabulary, defaults.padding));
  SHARDLAB_TRY(m.attention_dropout, read_dropout(config, options, "attention_dropout"));
  SHARDLAB_CHECK_OK(check_divides(config, "num_attention_heads", m.heads, "num_key_value_heads", m.kv_heads));
  if (!config.has("head_dim") && defaults.head_dim == 0)
    SHARDLAB_CHECK_OK(check_divides(config, "hidden_size", m.hidden, "num_attention_heads", m.heads));
  SHARDLAB_TRY(m.rope, read_rope(config, options, m.head_dim, m.positions, defaults.rope));
  if (!m.rope.any_length) SHARDLAB_CHECK_OK(check_positions(options, "max_position_embeddings", m.positions));
  return m;
}

Result<std::vector<std::int64_t>> windows_of_types(const ModelConfig& config,
                                                   const std::vector<std::string>& types, std::int64_t window,
                                                   std::int64_t layers) {
  if (static_cast<std::int64_t>(types.size()) != layers) {
    return bad_input(
        in_file(config.file()),
        fmt::format("layer_types has {} entries, num_hidden_layers is {}", types.size(), layers));
  }
  std::vector<std::int64_t> windows;
  for (const std::string& type : types) {
    if (type != "full_attention" && type != "sliding_attention") {
      return bad_input(in_file(config.file()), "layer_types: not supported yet: " + type,
                       "supported: full_attention, sliding_attention");
    }
    if (type == "sliding_attention" && window == 0)
      return bad_input(in_file(config.file()),
                       "layer_types names sliding_attention, but there is no sliding_window");
    windows.push_back(type == "sliding_attention" ? window : 0);
  }
  return windows;
}

Result<std::vector<std::int64_t>> read_qwen_windows(const ModelConfig& config, std::int64_t layers) {
  SHARDLAB_TRY(const bool used, config.boolean_or("use_sliding_window", false));
  SHARDLAB_TRY(const std::int64_t given, config.integer_or("sliding_window", 4096));
  const std::int64_t window = used && !config.is_null("sliding_window") ? given : 0;
  SHARDLAB_TRY(std::vector<std::string> types, config.texts("layer_types"));
  if (!types.empty()) return windows_of_types(config, types, window, layers);
  std::int64_t first = 28;  // max_window_layers may be 0
  if (config.has("max_window_layers")) {
    SHARDLAB_TRY(first, config.count_or("max_window_layers", first));
  }
  std::vector<std::int64_t> windows(static_cast<std::size_t>(layers), 0);
  for (std::int64_t layer = first; layer < layers; ++layer) windows[static_cast<std::size_t>(layer)] = window;
  return windows;
}

Result<LlamaExperts> read_experts(const ModelConfig& config, const GraphOptions& options, std::int64_t count,
                                  std::int64_t per_token) {
  LlamaExperts experts;
  const char* key = config.has("num_experts") ? "num_experts" : "num_local_experts";
  SHARDLAB_TRY(experts.count, config.integer_or(key, count));
  constexpr std::int64_t k_most_experts = 65'536;
  if (experts.count > k_most_experts)
    return bad_input(in_file(config.file()),
                     fmt::format("{}: {} experts are more than any model has", key, experts.count),
                     fmt::format("at most {}", k_most_experts));
  SHARDLAB_TRY(experts.per_token, config.integer_or("num_experts_per_tok", per_token));
  SHARDLAB_TRY(const double noise, config.number_or("router_jitter_noise", 0));
  if (noise != 0)
    return bad_input(in_file(config.file()),
                     fmt::format("router_jitter_noise: not supported yet: {}", noise));
  SHARDLAB_TRY(const bool loss, config.boolean_or("output_router_logits", false));
  SHARDLAB_TRY(const double weight, config.number_or("router_aux_loss_coef", 0.001));
  if (weight < 0)
    return bad_input(in_file(config.file()), fmt::format("router_aux_loss_coef: below 0: {}", weight));
  experts.router_loss = options.router_loss.value_or(loss ? weight : 0);
  constexpr std::int64_t k_most = 64;  // of top_k's implementation
  if (experts.per_token > experts.count || experts.per_token > k_most) {
    return bad_input(in_file(config.file()), fmt::format("num_experts_per_tok {} is above {} {}, or above {}",
                                                         experts.per_token, key, experts.count, k_most));
  }
  return experts;
}

}  // namespace shardlab
