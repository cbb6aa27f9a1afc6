// Source: transformers 5.23, models/gpt2/modeling_gpt2.py and configuration_gpt2.py.
#include <cmath>

#include "engine/model/families/config_fields.h"
#include "engine/model/families/family.h"

namespace shardlab {
namespace {

struct Gpt2 {
  std::int64_t hidden, layers, heads, positions, inner, vocabulary;
  double epsilon, initializer_range;
  double residual_dropout, embedding_dropout, attention_dropout;
  bool tied, scaled, scaled_by_layer;
  NamedActivation activation;
};

Result<Gpt2> read_gpt2(const ModelConfig& config, const GraphOptions& options) {
  Gpt2 m{};
  SHARDLAB_TRY(m.hidden, config.integer_or("n_embd", 768));
  SHARDLAB_TRY(m.layers, config.layers("n_layer", 12));
  SHARDLAB_TRY(m.heads, config.integer_or("n_head", 12));
  SHARDLAB_TRY(m.positions, config.integer_or("n_positions", 1024));
  SHARDLAB_TRY(m.inner, config.integer_or("n_inner", 4 * m.hidden));
  SHARDLAB_TRY(m.vocabulary, config.integer_or("vocab_size", 50257));
  SHARDLAB_TRY(m.epsilon, config.number_or("layer_norm_epsilon", 1e-5));
  SHARDLAB_TRY(m.initializer_range, config.number_or("initializer_range", 0.02));
  SHARDLAB_TRY(m.tied, config.boolean_or("tie_word_embeddings", true));
  SHARDLAB_TRY(m.scaled, config.boolean_or("scale_attn_weights", true));
  SHARDLAB_TRY(m.scaled_by_layer, config.boolean_or("scale_attn_by_inverse_layer_idx", false));
  SHARDLAB_TRY(m.activation, read_activation(config, "activation_function", "gelu_new"));
  SHARDLAB_TRY(m.residual_dropout, read_dropout(config, options, "resid_pdrop", 0.1));
  SHARDLAB_TRY(m.embedding_dropout, read_dropout(config, options, "embd_pdrop", 0.1));
  SHARDLAB_TRY(m.attention_dropout, read_dropout(config, options, "attn_pdrop", 0.1));
  SHARDLAB_CHECK_OK(refuse_if_true(config, {"add_cross_attention"}));
  SHARDLAB_CHECK_OK(check_divides(config, "n_embd", m.hidden, "n_head", m.heads));
  if (m.activation.activation == Activation::silu)
    return bad_input(in_file(config.file()), "activation_function: not supported yet in this family: silu");
  return m;
}

struct Gpt2Layer {
  ModuleId block, attention, mlp, attention_drop, mlp_drop;
  NormPart norm1, norm2;
  LinearPart qkv, output, up, down;
};

class Gpt2Builder {
 public:
  Gpt2Builder(const Gpt2& model, const GraphOptions& options)
      : m_(model), parts_("gpt2", options, model.initializer_range) {}

  ModelGraph build() {
    const ModuleId model = parts_.builder.add_module(std::nullopt, "", "GPT2LMHeadModel");
    const ModuleId inner = parts_.builder.add_module(model, "transformer", "GPT2Model");
    const LinearPart embed = parts_.define_embedding(inner, "wte", m_.vocabulary, m_.hidden);
    const LinearPart positions = parts_.define_embedding(inner, "wpe", m_.positions, m_.hidden);
    const ModuleId drop = parts_.builder.add_module(inner, "drop", "Dropout");
    const ModuleId list = parts_.builder.add_module(inner, "h", "ModuleList");
    std::vector<Gpt2Layer> layers;
    for (std::int64_t i = 0; i < m_.layers; ++i) layers.push_back(define_layer(list, i));
    const NormPart norm = define_norm(inner, "ln_f");
    const LinearPart head = parts_.define_head(model, embed, m_.tied, false);

    TensorId x = parts_.embed(embed);
    x = parts_.builder.add_operator(k_add_positions, positions.module, {x}, positions.parameters, "hidden",
                                    parts_.rows(m_.hidden));
    x = parts_.dropout(drop, m_.embedding_dropout, x);
    for (std::size_t i = 0; i < layers.size(); ++i) x = run_layer(layers[i], i, x);
    const TensorId logits = parts_.linear(head, parts_.norm(norm, x, m_.epsilon), "logits");
    return parts_.builder.finish(parts_.loss(model, logits), "GPT2Block", m_.layers, m_.vocabulary);
  }

 private:
  NormPart define_norm(ModuleId parent, std::string_view name) {
    return parts_.define_norm(parent, name, "LayerNorm", m_.hidden, NormKind::layer);
  }

  Gpt2Layer define_layer(ModuleId list, std::int64_t index) {
    Gpt2Layer layer;
    layer.block = parts_.builder.add_module(list, std::to_string(index), "GPT2Block");
    layer.norm1 = define_norm(layer.block, "ln_1");
    layer.attention = parts_.builder.add_module(layer.block, "attn", "GPT2Attention");
    layer.qkv = parts_.define_conv1d(layer.attention, "c_attn", m_.hidden, 3 * m_.hidden);
    layer.output = parts_.define_conv1d(layer.attention, "c_proj", m_.hidden, m_.hidden);
    parts_.builder.add_module(layer.attention, "attn_dropout", "Dropout");
    layer.attention_drop = parts_.builder.add_module(layer.attention, "resid_dropout", "Dropout");
    layer.norm2 = define_norm(layer.block, "ln_2");
    layer.mlp = parts_.builder.add_module(layer.block, "mlp", "GPT2MLP");
    layer.up = parts_.define_conv1d(layer.mlp, "c_fc", m_.hidden, m_.inner);
    layer.down = parts_.define_conv1d(layer.mlp, "c_proj", m_.inner, m_.hidden);
    parts_.builder.add_module(layer.mlp, "act", m_.activation.class_name);
    layer.mlp_drop = parts_.builder.add_module(layer.mlp, "dropout", "Dropout");
    return layer;
  }

  TensorId run_layer(const Gpt2Layer& layer, std::size_t index, TensorId x) {
    AttentionPart attention{m_.heads, m_.heads, m_.hidden / m_.heads, Packing::sections};
    attention.scale = m_.scaled ? 1 / std::sqrt(static_cast<double>(attention.head_dim)) : 1;
    attention.dropout = m_.attention_dropout;
    attention.narrow_softmax = true;
    if (m_.scaled_by_layer) attention.scale /= static_cast<double>(index + 1);
    const TensorId qkv = parts_.linear(layer.qkv, parts_.norm(layer.norm1, x, m_.epsilon), "query_key_value");
    const TensorId attended =
        parts_.linear(layer.output, parts_.attend(layer.attention, attention, {qkv}), "attention_output");
    const TensorId middle =
        parts_.add(layer.block, x, parts_.dropout(layer.attention_drop, m_.residual_dropout, attended));
    const TensorId up = parts_.linear(layer.up, parts_.norm(layer.norm2, middle, m_.epsilon), "up");
    const TensorId activated = parts_.activate(layer.mlp, m_.activation.activation, up);
    const TensorId down = parts_.linear(layer.down, activated, "mlp_output");
    return parts_.add(layer.block, middle, parts_.dropout(layer.mlp_drop, m_.residual_dropout, down));
  }

  const Gpt2& m_;
  DecoderParts parts_;
};

}  // namespace

Result<ModelGraph> build_gpt2(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const Gpt2 model, read_gpt2(config, options));
  SHARDLAB_CHECK_OK(check_positions(options, "n_positions", model.positions));
  return Gpt2Builder(model, options).build();
}

}  // namespace shardlab
