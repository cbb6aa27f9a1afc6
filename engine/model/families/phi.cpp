// Source: transformers 5.23, models/phi/modeling_phi.py and configuration_phi.py: attention and network side
// by side behind one norm, part of each head turned, a head with a bias.
#include "engine/model/families/config_fields.h"
#include "engine/model/families/family.h"

namespace shardlab {
namespace {

struct Phi {
  std::int64_t hidden, intermediate, layers, heads, kv_heads, head_dim, vocabulary, positions;
  double epsilon, initializer_range;
  double residual_dropout, embedding_dropout, attention_dropout;
  bool tied, head_norms;
  NamedActivation activation;
  RopeFields rope;
  std::optional<std::int64_t> padding;
};

Result<Phi> read_phi(const ModelConfig& config, const GraphOptions& options) {
  Phi m{};
  SHARDLAB_TRY(m.hidden, config.integer("hidden_size"));
  SHARDLAB_TRY(m.intermediate, config.integer("intermediate_size"));
  SHARDLAB_TRY(m.layers, config.layers("num_hidden_layers"));
  SHARDLAB_TRY(m.heads, config.integer("num_attention_heads"));
  SHARDLAB_TRY(m.kv_heads, config.integer_or("num_key_value_heads", m.heads));
  SHARDLAB_TRY(m.vocabulary, config.integer("vocab_size"));
  SHARDLAB_TRY(m.positions, config.integer_or("max_position_embeddings", 2048));
  SHARDLAB_TRY(m.epsilon, config.number_or("layer_norm_eps", 1e-5));
  SHARDLAB_TRY(m.initializer_range, config.number_or("initializer_range", 0.02));
  SHARDLAB_TRY(m.tied, config.boolean_or("tie_word_embeddings", false));
  SHARDLAB_TRY(m.head_norms, config.boolean_or("qk_layernorm", false));
  SHARDLAB_TRY(m.padding, read_padding(config, m.vocabulary));
  SHARDLAB_TRY(m.activation, read_activation(config, "hidden_act", "gelu_new"));
  SHARDLAB_TRY(m.residual_dropout, read_dropout(config, options, "resid_pdrop"));
  SHARDLAB_TRY(m.embedding_dropout, read_dropout(config, options, "embd_pdrop"));
  SHARDLAB_TRY(m.attention_dropout, read_dropout(config, options, "attention_dropout"));
  SHARDLAB_CHECK_OK(check_divides(config, "hidden_size", m.hidden, "num_attention_heads", m.heads));
  SHARDLAB_CHECK_OK(check_divides(config, "num_attention_heads", m.heads, "num_key_value_heads", m.kv_heads));
  if (m.activation.activation == Activation::silu)
    return bad_input(in_file(config.file()), "hidden_act: not supported yet in this family: silu");
  m.head_dim = m.hidden / m.heads;
  SHARDLAB_TRY(m.rope, read_rope(config, options, m.head_dim, m.positions, {.partial = 0.5}));
  if (!m.rope.any_length) SHARDLAB_CHECK_OK(check_positions(options, "max_position_embeddings", m.positions));
  return m;
}

struct PhiLayer {
  ModuleId block, attention, mlp, drop;
  LinearPart q, k, v, dense, up, down;
  std::optional<NormPart> q_norm, k_norm;
  NormPart norm;
};

class PhiBuilder {
 public:
  PhiBuilder(const Phi& model, const GraphOptions& options)
      : m_(model), parts_("phi", options, model.initializer_range) {}

  ModelGraph build() {
    const ModuleId model = parts_.builder.add_module(std::nullopt, "", "PhiForCausalLM");
    const ModuleId inner = parts_.builder.add_module(model, "model", "PhiModel");
    const LinearPart embed = parts_.define_embedding(inner, "embed_tokens", m_.vocabulary, m_.hidden);
    const ModuleId list = parts_.builder.add_module(inner, "layers", "ModuleList");
    std::vector<PhiLayer> layers;
    for (std::int64_t i = 0; i < m_.layers; ++i) layers.push_back(define_layer(list, i));
    parts_.builder.add_positions(inner, "rotary_emb", "PhiRotaryEmbedding");
    const ModuleId drop = parts_.builder.add_module(inner, "embed_dropout", "Dropout");
    const NormPart norm = define_norm(inner, "final_layernorm", m_.hidden);
    const LinearPart head = parts_.define_head(model, embed, m_.tied, true);

    table_ = parts_.rope_table(m_.rope.table, m_.rope.rotary_dim);
    TensorId x = parts_.dropout(drop, m_.embedding_dropout, parts_.embed(embed, m_.padding));
    for (const PhiLayer& layer : layers) x = run_layer(layer, x);
    const TensorId logits = parts_.linear(head, parts_.norm(norm, x, m_.epsilon), "logits");
    return parts_.builder.finish(parts_.loss(model, logits), "PhiDecoderLayer", m_.layers, m_.vocabulary);
  }

 private:
  NormPart define_norm(ModuleId parent, std::string_view name, std::int64_t width) {
    return parts_.define_norm(parent, name, "LayerNorm", width, NormKind::layer);
  }

  PhiLayer define_layer(ModuleId list, std::int64_t index) {
    const std::int64_t queries = m_.heads * m_.head_dim, keys = m_.kv_heads * m_.head_dim;
    PhiLayer layer;
    layer.block = parts_.builder.add_module(list, std::to_string(index), "PhiDecoderLayer");
    layer.attention = parts_.builder.add_module(layer.block, "self_attn", "PhiAttention");
    layer.q = parts_.define_linear(layer.attention, "q_proj", m_.hidden, queries, true);
    layer.k = parts_.define_linear(layer.attention, "k_proj", m_.hidden, keys, true);
    layer.v = parts_.define_linear(layer.attention, "v_proj", m_.hidden, keys, true);
    layer.dense = parts_.define_linear(layer.attention, "dense", queries, m_.hidden, true);
    if (m_.head_norms) {
      layer.q_norm = define_norm(layer.attention, "q_layernorm", m_.head_dim);
      layer.k_norm = define_norm(layer.attention, "k_layernorm", m_.head_dim);
    }
    layer.mlp = parts_.builder.add_module(layer.block, "mlp", "PhiMLP");
    parts_.builder.add_module(layer.mlp, "activation_fn", m_.activation.class_name);
    layer.up = parts_.define_linear(layer.mlp, "fc1", m_.hidden, m_.intermediate, true);
    layer.down = parts_.define_linear(layer.mlp, "fc2", m_.intermediate, m_.hidden, true);
    layer.norm = define_norm(layer.block, "input_layernorm", m_.hidden);
    layer.drop = parts_.builder.add_module(layer.block, "resid_dropout", "Dropout");
    return layer;
  }

  TensorId turned(const PhiLayer& layer, const LinearPart& linear, const std::optional<NormPart>& norm,
                  TensorId x, std::string_view label) {
    TensorId heads = parts_.linear(linear, x, label);
    if (norm) heads = parts_.head_norm(*norm, heads, m_.epsilon, label);
    return parts_.rope(layer.attention, heads, table_, m_.head_dim, label);
  }

  TensorId dropped(const PhiLayer& layer, TensorId x) {
    return parts_.dropout(layer.drop, m_.residual_dropout, x);
  }

  TensorId run_layer(const PhiLayer& layer, TensorId x) {
    const TensorId normed = parts_.norm(layer.norm, x, m_.epsilon);
    const TensorId q = turned(layer, layer.q, layer.q_norm, normed, "query");
    const TensorId k = turned(layer, layer.k, layer.k_norm, normed, "key");
    const TensorId v = parts_.linear(layer.v, normed, "value");
    AttentionPart part{m_.heads, m_.kv_heads, m_.head_dim};
    part.dropout = m_.attention_dropout;
    const TensorId attended = parts_.attend(layer.attention, part, {q, k, v});
    const TensorId attention = dropped(layer, parts_.linear(layer.dense, attended, "attention_output"));
    const TensorId up = parts_.linear(layer.up, normed, "up");
    const TensorId activated = parts_.activate(layer.mlp, m_.activation.activation, up);
    const TensorId made = dropped(layer, parts_.linear(layer.down, activated, "mlp_output"));
    const TensorId both = parts_.add(layer.block, attention, made, "both");
    return parts_.add(layer.block, both, x);
  }

  const Phi& m_;
  DecoderParts parts_;
  TensorId table_;
};

}  // namespace

Result<ModelGraph> build_phi(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const Phi model, read_phi(config, options));
  return PhiBuilder(model, options).build();
}

}  // namespace shardlab
