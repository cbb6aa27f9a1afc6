// Source: transformers 5.23, models/mpt/modeling_mpt.py and configuration_mpt.py: no biases, alibi. And the
// original code, llm-foundry 0.4 (llmfoundry/models/mpt, models/layers), which is meant where the
// configuration says alibi: false: learned positions, biases, layer norms in low precision. Modules keep the
// names that transformers gives.
#include <fmt/core.h>

#include "engine/model/constants.h"
#include "engine/model/families/config_fields.h"
#include "engine/model/families/family.h"

namespace shardlab {
namespace {

// The model calls build_mpt_alibi_tensor without its configuration's alibi_bias_max: slopes are of the
// default.
constexpr double k_alibi_bias_max = 8;

struct Mpt {
  std::int64_t hidden, layers, heads, positions, vocabulary;
  double epsilon, initializer_range, softmax_scale;
  double attention_dropout, residual_dropout, embedding_dropout;
  bool tied, alibi;
  bool learned_positions, biases, low_precision_norms;  // of the original code
};

Status read_attention(const ModelConfig& attention, const GraphOptions& options, Mpt& m) {
  SHARDLAB_TRY(m.attention_dropout, read_dropout(attention, options, "attn_pdrop"));
  SHARDLAB_CHECK_OK(refuse_if_true(attention, {"qk_ln", "prefix_lm", "attn_uses_sequence_id"}));
  SHARDLAB_TRY(const std::string type, attention.text_or("attn_type", "multihead_attention"));
  if (type != "multihead_attention")
    return bad_input(in_file(attention.file()), "attn_type: not supported yet: " + type,
                     "supported: multihead_attention");
  SHARDLAB_TRY(const double clip, attention.number_or("clip_qkv", 0));
  if (clip != 0)
    return bad_input(in_file(attention.file()), fmt::format("clip_qkv: not supported yet: {}", clip));
  SHARDLAB_TRY(m.alibi, attention.boolean_or("alibi", true));
  SHARDLAB_TRY(m.softmax_scale, attention.number_or("softmax_scale", 0));
  if (m.softmax_scale < 0) return bad_input(in_file(attention.file()), "softmax_scale: must be positive");
  return {};
}

// transformers' modules drop the share of attention wherever they drop, the original's by a field each.
Status read_shares(const ModelConfig& config, const GraphOptions& options, Mpt& m) {
  m.residual_dropout = m.attention_dropout;
  if (m.alibi) return refuse_dropout(config, {"emb_pdrop", "resid_pdrop"});
  SHARDLAB_TRY(m.residual_dropout, read_dropout(config, options, "resid_pdrop"));
  SHARDLAB_TRY(m.embedding_dropout, read_dropout(config, options, "emb_pdrop"));
  return {};
}

// What transformers' class knows no other value of, and the original code does.
Status read_original(const ModelConfig& config, Mpt& m) {
  SHARDLAB_TRY(const bool no_bias, config.boolean_or("no_bias", m.alibi));
  m.biases = !no_bias;
  if (m.biases && m.alibi)
    return bad_input(in_file(config.file()), "no_bias: not supported yet: false",
                     "transformers' Mpt has no biases; attn_config.alibi: false means llm-foundry's");
  SHARDLAB_TRY(m.learned_positions, config.boolean_or("learned_pos_emb", true));
  m.learned_positions = m.learned_positions && !m.alibi;
  SHARDLAB_TRY(const std::string norm, config.text_or("norm_type", "low_precision_layernorm"));
  if (norm != "low_precision_layernorm" && norm != "layernorm")
    return bad_input(in_file(config.file()), "norm_type: not supported yet: " + norm,
                     "supported: low_precision_layernorm, layernorm");
  m.low_precision_norms = norm == "low_precision_layernorm" && !m.alibi;
  return {};
}

Result<Mpt> read_mpt(const ModelConfig& config, const GraphOptions& options) {
  Mpt m{};
  SHARDLAB_TRY(m.hidden, config.integer_or("d_model", 2048));
  SHARDLAB_TRY(m.layers, config.layers("n_layers", 24));
  SHARDLAB_TRY(m.heads, config.integer_or("n_heads", 16));
  SHARDLAB_TRY(m.positions, config.integer_or("max_seq_len", 2048));
  SHARDLAB_TRY(m.vocabulary, config.integer_or("vocab_size", 50368));
  SHARDLAB_TRY(m.epsilon, config.number_or("layer_norm_epsilon", 1e-5));
  SHARDLAB_TRY(m.initializer_range, config.number_or("initializer_range", 0.02));
  SHARDLAB_TRY(m.tied, config.boolean_or("tie_word_embeddings", true));
  SHARDLAB_TRY(const std::int64_t expansion, config.integer_or("expansion_ratio", 4));
  if (expansion != 4)
    return bad_input(in_file(config.file()), "expansion_ratio: transformers' Mpt knows 4 only");
  if (config.has("logit_scale"))
    return bad_input(in_file(config.file()), "logit_scale: not supported yet", "supported: null");
  SHARDLAB_CHECK_OK(check_divides(config, "d_model", m.hidden, "n_heads", m.heads));
  SHARDLAB_TRY(const ModelConfig attention, config.object_or_empty("attn_config"));
  SHARDLAB_CHECK_OK(read_attention(attention, options, m));
  SHARDLAB_CHECK_OK(read_shares(config, options, m));
  SHARDLAB_CHECK_OK(read_original(config, m));
  return m;
}

struct MptLayer {
  ModuleId block, attention, mlp, attention_drop;
  NormPart norm1, norm2;
  LinearPart qkv, output, up, down;
};

class MptBuilder {
 public:
  MptBuilder(const Mpt& model, const GraphOptions& options)
      : m_(model), parts_("mpt", options, model.initializer_range) {}

  ModelGraph build() {
    const ModuleId model = parts_.builder.add_module(std::nullopt, "", "MptForCausalLM");
    const ModuleId inner = parts_.builder.add_module(model, "transformer", "MptModel");
    const LinearPart embed = parts_.define_embedding(inner, "wte", m_.vocabulary, m_.hidden);
    LinearPart positions;
    if (m_.learned_positions) positions = parts_.define_embedding(inner, "wpe", m_.positions, m_.hidden);
    const ModuleId list = parts_.builder.add_module(inner, "blocks", "ModuleList");
    std::vector<MptLayer> layers;
    for (std::int64_t i = 0; i < m_.layers; ++i) layers.push_back(define_layer(list, i));
    const NormPart norm = define_norm(inner, "norm_f");
    const LinearPart head = parts_.define_head(model, embed, m_.tied, false);

    if (m_.alibi) alibi_ = parts_.alibi_table(mpt_alibi_attributes(k_alibi_bias_max), m_.heads);
    TensorId x = parts_.embed(embed);
    if (m_.learned_positions)
      x = parts_.builder.add_operator(k_add_positions, positions.module, {x}, positions.parameters, "hidden",
                                      parts_.rows(m_.hidden));
    x = parts_.dropout(inner, m_.embedding_dropout, x);
    for (const MptLayer& layer : layers) x = run_layer(layer, x);
    const TensorId logits = parts_.linear(head, run_norm(norm, x), "logits");
    return parts_.builder.finish(parts_.loss(model, logits), "MptBlock", m_.layers, m_.vocabulary);
  }

 private:
  NormPart define_norm(ModuleId parent, std::string_view name) {
    NormPart part = parts_.define_norm(parent, name, "LayerNorm", m_.hidden,
                                       m_.biases ? NormKind::layer : NormKind::layer_without_bias);
    part.low_precision = m_.low_precision_norms;
    return part;
  }
  TensorId run_norm(const NormPart& norm, TensorId x) { return parts_.norm(norm, x, m_.epsilon); }

  MptLayer define_layer(ModuleId list, std::int64_t index) {
    MptLayer layer;
    layer.block = parts_.builder.add_module(list, std::to_string(index), "MptBlock");
    layer.norm1 = define_norm(layer.block, "norm_1");
    layer.attention = parts_.builder.add_module(layer.block, "attn", "MptAttention");
    layer.qkv = parts_.define_linear(layer.attention, "Wqkv", m_.hidden, 3 * m_.hidden, m_.biases);
    layer.output = parts_.define_linear(layer.attention, "out_proj", m_.hidden, m_.hidden, m_.biases);
    layer.norm2 = define_norm(layer.block, "norm_2");
    layer.mlp = parts_.builder.add_module(layer.block, "ffn", "MptMLP");
    layer.up = parts_.define_linear(layer.mlp, "up_proj", m_.hidden, 4 * m_.hidden, m_.biases);
    parts_.builder.add_module(layer.mlp, "act", "GELU");
    layer.down = parts_.define_linear(layer.mlp, "down_proj", 4 * m_.hidden, m_.hidden, m_.biases);
    layer.attention_drop = parts_.builder.add_module(layer.block, "resid_attn_dropout", "Dropout");
    return layer;
  }

  TensorId run_layer(const MptLayer& layer, TensorId x) {
    AttentionPart attention{m_.heads, m_.heads, m_.hidden / m_.heads, Packing::sections, m_.softmax_scale};
    if (m_.alibi) attention.bias = alibi_;
    attention.dropout = m_.attention_dropout;
    const TensorId qkv = parts_.linear(layer.qkv, run_norm(layer.norm1, x), "query_key_value");
    const TensorId attended =
        parts_.linear(layer.output, parts_.attend(layer.attention, attention, {qkv}), "attention_output");
    const TensorId middle =
        parts_.add(layer.block, x, parts_.dropout(layer.attention_drop, m_.residual_dropout, attended));
    const TensorId up = parts_.linear(layer.up, run_norm(layer.norm2, middle), "up");
    const TensorId activated = parts_.activate(layer.mlp, Activation::gelu, up);
    const TensorId down = parts_.linear(layer.down, activated, "mlp_output");
    return parts_.add(layer.block, middle, parts_.dropout(layer.mlp, m_.residual_dropout, down));
  }

  const Mpt& m_;
  DecoderParts parts_;
  TensorId alibi_;
};

}  // namespace

Result<ModelGraph> build_mpt(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const Mpt model, read_mpt(config, options));
  SHARDLAB_CHECK_OK(check_positions(options, "max_seq_len", model.positions));
  return MptBuilder(model, options).build();
}

}  // namespace shardlab
