#include <cmath>

#include "engine/model/families/llama_like.h"

namespace shardlab {
namespace {

struct LlamaLayer {
  ModuleId block, attention, mlp;
  LinearPart q, k, v, o, gate, up, down;
  std::optional<NormPart> q_norm, k_norm;
  NormPart norm1, norm2;
  std::optional<NormPart> after_attention, after_mlp;
  std::optional<ExpertsPart> experts;  // instead of gate, up, down
};

class LlamaBuilder {
 public:
  LlamaBuilder(const LlamaLike& model, const GraphOptions& options)
      : m_(model), parts_(model.family, options, model.initializer_range) {}

  ModelGraph build() {
    define_modules();
    table_ = parts_.rope_table(m_.rope.table, m_.rope.rotary_dim);
    TensorId x =
        parts_.embed(embed_, m_.padding, m_.scaled_embedding ? std::sqrt(static_cast<double>(m_.hidden)) : 0);
    for (std::size_t i = 0; i < layers_.size(); ++i) x = run_layer(layers_[i], i, x);
    x = parts_.norm(norm_, x, m_.epsilon);
    TensorId logits = parts_.linear(head_, x, "logits");
    if (m_.logit_cap > 0) {
      logits = parts_.builder.add_operator(k_soft_cap, model_, {logits}, {}, "logits",
                                           parts_.rows(m_.vocabulary), {{attribute::k_cap, m_.logit_cap}});
    }
    const TensorId loss = parts_.loss(model_, logits, m_.experts ? m_.experts->router_loss : 0);
    return parts_.builder.finish(loss, m_.prefix + "DecoderLayer", m_.layers, m_.vocabulary);
  }

 private:
  ModuleId module(ModuleId parent, std::string_view name, const char* suffix) {
    return parts_.builder.add_module(parent, name, m_.prefix + suffix);
  }
  NormPart define_norm(ModuleId parent, std::string_view name, std::int64_t width) {
    return parts_.define_norm(parent, name, m_.prefix + "RMSNorm", width, m_.norm);
  }

  void define_modules() {
    model_ = parts_.builder.add_module(std::nullopt, "", m_.prefix + "ForCausalLM");
    const ModuleId inner = module(model_, "model", "Model");
    embed_ = parts_.define_embedding(inner, "embed_tokens", m_.vocabulary, m_.hidden, m_.embedding_class);
    const ModuleId list = parts_.builder.add_module(inner, "layers", "ModuleList");
    layers_.reserve(static_cast<std::size_t>(m_.layers));
    for (std::int64_t i = 0; i < m_.layers; ++i) layers_.push_back(define_layer(list, i));
    norm_ = define_norm(inner, "norm", m_.hidden);
    parts_.builder.add_positions(inner, "rotary_emb", m_.prefix + "RotaryEmbedding");
    head_ = parts_.define_head(model_, embed_, m_.tied, false);
  }

  LlamaLayer define_layer(ModuleId list, std::int64_t index) {
    LlamaLayer layer;
    layer.block = module(list, std::to_string(index), "DecoderLayer");
    define_attention(layer);
    if (m_.experts && m_.experts->layers[static_cast<std::size_t>(index)]) {
      define_experts(layer);
    } else {
      define_mlp(layer);
    }
    layer.norm1 = define_norm(layer.block, "input_layernorm", m_.hidden);
    if (!m_.norms_after) {
      layer.norm2 = define_norm(layer.block, "post_attention_layernorm", m_.hidden);
      return layer;
    }
    layer.after_attention = define_norm(layer.block, "post_attention_layernorm", m_.hidden);
    layer.norm2 = define_norm(layer.block, "pre_feedforward_layernorm", m_.hidden);
    layer.after_mlp = define_norm(layer.block, "post_feedforward_layernorm", m_.hidden);
    return layer;
  }

  void define_attention(LlamaLayer& layer) {
    const std::int64_t queries = m_.heads * m_.head_dim, keys = m_.kv_heads * m_.head_dim;
    layer.attention = module(layer.block, "self_attn", "Attention");
    layer.q = parts_.define_linear(layer.attention, "q_proj", m_.hidden, queries, m_.qkv_bias);
    layer.k = parts_.define_linear(layer.attention, "k_proj", m_.hidden, keys, m_.qkv_bias);
    layer.v = parts_.define_linear(layer.attention, "v_proj", m_.hidden, keys, m_.qkv_bias);
    layer.o = parts_.define_linear(layer.attention, "o_proj", queries, m_.hidden, m_.output_bias);
    if (!m_.head_norms) return;
    layer.q_norm = define_norm(layer.attention, "q_norm", m_.head_dim);
    layer.k_norm = define_norm(layer.attention, "k_norm", m_.head_dim);
  }

  void define_experts(LlamaLayer& layer) {
    const LlamaExperts& e = *m_.experts;
    layer.experts = ExpertsPart{module(layer.block, "mlp", "SparseMoeBlock"),
                                {},
                                {},
                                {},
                                {},
                                e.count,
                                e.per_token,
                                e.width,
                                e.normalized,
                                e.router_loss > 0};
    parts_.define_experts(*layer.experts, m_.prefix, m_.hidden, e.router_first, m_.activation.class_name);
  }

  void define_mlp(LlamaLayer& layer) {
    layer.mlp = module(layer.block, "mlp", "MLP");
    layer.gate = parts_.define_linear(layer.mlp, "gate_proj", m_.hidden, m_.intermediate, m_.mlp_bias);
    layer.up = parts_.define_linear(layer.mlp, "up_proj", m_.hidden, m_.intermediate, m_.mlp_bias);
    layer.down = parts_.define_linear(layer.mlp, "down_proj", m_.intermediate, m_.hidden, m_.mlp_bias);
    parts_.builder.add_module(layer.mlp, "act_fn", m_.activation.class_name);
  }

  TensorId run_layer(const LlamaLayer& layer, std::size_t index, TensorId x) {
    TensorId attended = run_attention(layer, index, parts_.norm(layer.norm1, x, m_.epsilon));
    if (layer.after_attention) attended = parts_.norm(*layer.after_attention, attended, m_.epsilon);
    const TensorId middle = parts_.add(layer.block, x, attended);
    TensorId out = run_mlp(layer, parts_.norm(layer.norm2, middle, m_.epsilon));
    if (layer.after_mlp) out = parts_.norm(*layer.after_mlp, out, m_.epsilon);
    return parts_.add(layer.block, middle, out);
  }

  TensorId run_attention(const LlamaLayer& layer, std::size_t index, TensorId x) {
    const TensorId q = turned(layer, index, layer.q, layer.q_norm, x, "query", "rotated_query");
    const TensorId k = turned(layer, index, layer.k, layer.k_norm, x, "key", "rotated_key");
    const TensorId v = parts_.linear(layer.v, x, "value");
    AttentionPart attention{m_.heads, m_.kv_heads, m_.head_dim};
    attention.scale = m_.attention_scale;
    attention.soft_cap = m_.attention_cap;
    attention.dropout = m_.attention_dropout;
    if (!m_.windows.empty()) attention.window = m_.windows[index];
    return parts_.linear(layer.o, parts_.attend(layer.attention, attention, {q, k, v}), "attention_output");
  }

  TensorId turned(const LlamaLayer& layer, std::size_t index, const LinearPart& linear,
                  const std::optional<NormPart>& norm, TensorId x, std::string_view label,
                  std::string_view turned_label) {
    TensorId heads = parts_.linear(linear, x, label);
    if (norm) heads = parts_.head_norm(*norm, heads, m_.epsilon, label);
    if (!m_.without_rope.empty() && m_.without_rope[index]) return heads;
    return parts_.rope(layer.attention, heads, table_, m_.head_dim, turned_label);
  }

  TensorId run_mlp(const LlamaLayer& layer, TensorId x) {
    if (layer.experts) return parts_.run_experts(*layer.experts, x);
    const TensorId gated = parts_.gated(layer.mlp, m_.activation.activation, layer.gate, layer.up, x);
    return parts_.linear(layer.down, gated, "mlp_output");
  }

  const LlamaLike& m_;
  DecoderParts parts_;
  ModuleId model_;
  LinearPart embed_, head_;
  std::vector<LlamaLayer> layers_;
  NormPart norm_;
  TensorId table_;
};

}  // namespace

ModelGraph build_llama_like(const LlamaLike& model, const GraphOptions& options) {
  return LlamaBuilder(model, options).build();
}

}  // namespace shardlab
