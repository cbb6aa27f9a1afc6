// Source: transformers 5.23, models/falcon/modeling_falcon.py and configuration_falcon.py: both
// architectures, rotary positions or alibi, attention beside the network or before it.
#include <cmath>

#include "engine/model/constants.h"
#include "engine/model/eager.h"
#include "engine/model/families/config_fields.h"
#include "engine/model/families/family.h"

namespace shardlab {
namespace {

// How a layer's norms feed attention and network.
enum class FalconNorms : std::uint8_t {
  shared,      // one norm, attention and network side by side
  separate,    // one each, side by side
  sequential,  // attention, then the network behind a second norm
};

struct Falcon {
  std::int64_t hidden, inner, layers, heads, kv_heads, head_dim, vocabulary, positions;
  double epsilon, initializer_range, hidden_dropout, attention_dropout;
  bool tied, bias, alibi;
  FalconNorms norms;
  NamedActivation activation;
  RopeFields rope;
};

// What tensors FalconAttention keeps depends on how it takes q, k and v apart.
Status check_eager(const Falcon& m, bool is_new, bool multi_query) {
  const auto refuse = [](const char* what) {
    return no_eager_form(std::string(" for falcon: eager: ") + what);
  };
  if (m.alibi && (is_new || multi_query)) return refuse("alibi with keys that query heads share");
  if (!m.alibi && is_new && (m.kv_heads == 1 || m.kv_heads == m.heads))
    return refuse("new_decoder_architecture with a key head for all query heads, or for each");
  if (!m.alibi && !is_new && !multi_query)
    return refuse(
        "rotary positions with a key head for each query head: values stay in the projection's output");
  return {};
}

Status read_architecture(const ModelConfig& config, const GraphOptions& options, Falcon& m) {
  SHARDLAB_TRY(const bool is_new, config.boolean_or("new_decoder_architecture", false));
  SHARDLAB_TRY(const bool multi_query, config.boolean_or("multi_query", true));
  SHARDLAB_TRY(const bool parallel, config.boolean_or("parallel_attn", true));
  SHARDLAB_TRY(const std::int64_t kv_heads, config.integer_or("num_kv_heads", m.heads));
  SHARDLAB_TRY(const std::int64_t norms, config.integer_or("num_ln_in_parallel_attn", is_new ? 2 : 1));
  m.kv_heads = is_new ? kv_heads : multi_query ? 1 : m.heads;
  if (norms > 2) return bad_input(in_file(config.file()), "num_ln_in_parallel_attn: 1 or 2");
  if (norms == 2 && !is_new)
    return bad_input(in_file(config.file()), "num_ln_in_parallel_attn: 2 needs new_decoder_architecture");
  if (is_new && !parallel)
    return bad_input(in_file(config.file()),
                     "new_decoder_architecture: attention is always parallel, parallel_attn is false");
  if (options.implementation == Implementation::eager) SHARDLAB_CHECK_OK(check_eager(m, is_new, multi_query));
  m.norms = !parallel ? FalconNorms::sequential : norms == 2 ? FalconNorms::separate : FalconNorms::shared;
  return check_divides(config, "num_attention_heads", m.heads, "num_kv_heads", m.kv_heads);
}

Result<Falcon> read_falcon(const ModelConfig& config, const GraphOptions& options) {
  Falcon m{};
  SHARDLAB_TRY(const std::int64_t old_hidden, config.integer_or("n_embed", 4544));
  SHARDLAB_TRY(m.hidden, config.integer_or("hidden_size", old_hidden));
  SHARDLAB_TRY(m.inner, config.integer_or("ffn_hidden_size", 4 * m.hidden));
  SHARDLAB_TRY(m.layers, config.layers("num_hidden_layers", 32));
  SHARDLAB_TRY(m.heads, config.integer_or("num_attention_heads", 71));
  SHARDLAB_TRY(m.vocabulary, config.integer_or("vocab_size", 65024));
  SHARDLAB_TRY(m.positions, config.integer_or("max_position_embeddings", 2048));
  SHARDLAB_TRY(m.epsilon, config.number_or("layer_norm_epsilon", 1e-5));
  SHARDLAB_TRY(m.initializer_range, config.number_or("initializer_range", 0.02));
  SHARDLAB_TRY(m.tied, config.boolean_or("tie_word_embeddings", true));
  SHARDLAB_TRY(m.bias, config.boolean_or("bias", false));
  SHARDLAB_TRY(m.alibi, config.boolean_or("alibi", false));
  SHARDLAB_TRY(m.activation, read_activation(config, "activation", "gelu"));
  SHARDLAB_TRY(m.hidden_dropout, read_dropout(config, options, "hidden_dropout"));
  SHARDLAB_TRY(m.attention_dropout, read_dropout(config, options, "attention_dropout"));
  SHARDLAB_CHECK_OK(check_divides(config, "hidden_size", m.hidden, "num_attention_heads", m.heads));
  SHARDLAB_CHECK_OK(read_architecture(config, options, m));
  if (m.activation.activation == Activation::silu)
    return bad_input(in_file(config.file()), "activation: not supported yet in this family: silu");
  m.head_dim = m.hidden / m.heads;
  if (!m.alibi) {
    SHARDLAB_TRY(m.rope, read_rope(config, options, m.head_dim, m.positions));
    if (m.rope.rotary_dim != m.head_dim)
      return bad_input(in_file(config.file()), "partial_rotary_factor: not supported yet in this family");
  }
  if (!m.rope.any_length) SHARDLAB_CHECK_OK(check_positions(options, "max_position_embeddings", m.positions));
  return m;
}

struct FalconLayer {
  ModuleId block, attention, mlp;
  LinearPart qkv, dense, up, down;
  NormPart norm_attention, norm_mlp;  // shared: the same
};

class FalconBuilder {
 public:
  FalconBuilder(const Falcon& model, const GraphOptions& options)
      : m_(model), parts_("falcon", options, model.initializer_range) {}

  ModelGraph build() {
    const ModuleId model = parts_.builder.add_module(std::nullopt, "", "FalconForCausalLM");
    const ModuleId inner = parts_.builder.add_module(model, "transformer", "FalconModel");
    const LinearPart embed = parts_.define_embedding(inner, "word_embeddings", m_.vocabulary, m_.hidden);
    const ModuleId list = parts_.builder.add_module(inner, "h", "ModuleList");
    std::vector<FalconLayer> layers;
    for (std::int64_t i = 0; i < m_.layers; ++i) layers.push_back(define_layer(list, i));
    const NormPart norm = define_norm(inner, "ln_f");
    parts_.builder.add_positions(inner, "rotary_emb", "FalconRotaryEmbedding");
    const LinearPart head = parts_.define_head(model, embed, m_.tied, false);

    const double scale = 1 / std::sqrt(static_cast<double>(m_.head_dim));
    table_ = m_.alibi ? parts_.alibi_table(falcon_alibi_attributes(scale), m_.heads)
                      : parts_.rope_table(m_.rope.table, m_.head_dim);
    TensorId x = parts_.embed(embed);
    for (const FalconLayer& layer : layers) x = run_layer(layer, x);
    const TensorId logits = parts_.linear(head, parts_.norm(norm, x, m_.epsilon), "logits");
    return parts_.builder.finish(parts_.loss(model, logits), "FalconDecoderLayer", m_.layers, m_.vocabulary);
  }

 private:
  NormPart define_norm(ModuleId parent, std::string_view name) {
    return parts_.define_norm(parent, name, "LayerNorm", m_.hidden, NormKind::layer);
  }
  LinearPart define_linear(ModuleId parent, std::string_view name, std::int64_t inputs,
                           std::int64_t outputs) {
    return parts_.define_linear(parent, name, inputs, outputs, m_.bias, "FalconLinear");
  }

  FalconLayer define_layer(ModuleId list, std::int64_t index) {
    FalconLayer layer;
    layer.block = parts_.builder.add_module(list, std::to_string(index), "FalconDecoderLayer");
    layer.attention = parts_.builder.add_module(layer.block, "self_attention", "FalconAttention");
    const std::int64_t width = (m_.heads + 2 * m_.kv_heads) * m_.head_dim;
    layer.qkv = define_linear(layer.attention, "query_key_value", m_.hidden, width);
    layer.dense = define_linear(layer.attention, "dense", m_.hidden, m_.hidden);
    parts_.builder.add_module(layer.attention, "attention_dropout", "Dropout");
    layer.mlp = parts_.builder.add_module(layer.block, "mlp", "FalconMLP");
    layer.up = define_linear(layer.mlp, "dense_h_to_4h", m_.hidden, m_.inner);
    parts_.builder.add_module(layer.mlp, "act", m_.activation.class_name);
    layer.down = define_linear(layer.mlp, "dense_4h_to_h", m_.inner, m_.hidden);
    define_norms(layer);
    return layer;
  }

  void define_norms(FalconLayer& layer) {
    switch (m_.norms) {
      case FalconNorms::sequential:
        layer.norm_mlp = define_norm(layer.block, "post_attention_layernorm");
        layer.norm_attention = define_norm(layer.block, "input_layernorm");
        return;
      case FalconNorms::separate:
        layer.norm_attention = define_norm(layer.block, "ln_attn");
        layer.norm_mlp = define_norm(layer.block, "ln_mlp");
        return;
      case FalconNorms::shared: layer.norm_attention = define_norm(layer.block, "input_layernorm");
    }
  }

  TensorId run_attention(const FalconLayer& layer, TensorId x) {
    AttentionPart attention{m_.heads, m_.kv_heads, m_.head_dim, Packing::groups};
    TensorId qkv = parts_.linear(layer.qkv, x, "query_key_value");
    if (m_.alibi) {
      attention.bias = table_;
      attention.dropout = m_.attention_dropout;  // without alibi FalconAttention hands over 0
    } else {
      const std::int64_t turned = m_.heads / m_.kv_heads + 1;
      qkv = parts_.rope(layer.attention, qkv, table_, m_.head_dim, "rotated", turned, 1);
    }
    return parts_.linear(layer.dense, parts_.attend(layer.attention, attention, {qkv}), "attention_output");
  }

  TensorId run_mlp(const FalconLayer& layer, TensorId x) {
    const TensorId activated =
        parts_.activate(layer.mlp, m_.activation.activation, parts_.linear(layer.up, x, "up"));
    return parts_.linear(layer.down, activated, "mlp_output");
  }

  TensorId run_layer(const FalconLayer& layer, TensorId x) {
    if (m_.norms == FalconNorms::sequential) {
      const TensorId attended = run_attention(layer, parts_.norm(layer.norm_attention, x, m_.epsilon));
      const TensorId middle =
          parts_.add(layer.block, x, parts_.dropout(layer.block, m_.attention_dropout, attended));
      const TensorId made = run_mlp(layer, parts_.norm(layer.norm_mlp, middle, m_.epsilon));
      return parts_.add(layer.block, middle, parts_.dropout(layer.block, m_.hidden_dropout, made));
    }
    const TensorId first = parts_.norm(layer.norm_attention, x, m_.epsilon);
    const TensorId second =
        m_.norms == FalconNorms::shared ? first : parts_.norm(layer.norm_mlp, x, m_.epsilon);
    const TensorId attended = run_attention(layer, first);
    const TensorId both = parts_.add(layer.block, run_mlp(layer, second), attended, "both");
    return parts_.add(layer.block, x, parts_.dropout(layer.block, m_.hidden_dropout, both));
  }

  const Falcon& m_;
  DecoderParts parts_;
  TensorId table_;
};

}  // namespace

Result<ModelGraph> build_falcon(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const Falcon model, read_falcon(config, options));
  return FalconBuilder(model, options).build();
}

}  // namespace shardlab
