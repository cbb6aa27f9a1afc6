// LlamaForCausalLM of transformers 5: names, classes and definition order of modules and parameters as in its checkpoints.
//
// Source: transformers, models/llama/modeling_llama.py and configuration_llama.py (defaults of absent fields).
#include <string>

#include "engine/model/constants.h"
#include "engine/model/families/family.h"

namespace shardlab {
namespace {

struct LlamaConfig {
  std::int64_t hidden, intermediate, layers, heads, kv_heads, head_dim, vocabulary, positions;
  double epsilon, weight_scale;
  bool tied, attention_bias, mlp_bias;
  Attributes rope_table;
};

// Uniform weights with the standard deviation that initializer_range gives a normal distribution: sqrt(3) times as wide.
constexpr double k_uniform_over_normal = 1.7320508075688772;

Result<Attributes> read_rope(const ModelConfig& config) {
  SHARDLAB_TRY(const double top_theta, config.number_or("rope_theta", 10000.0));
  const char* key = config.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  SHARDLAB_TRY(const ModelConfig rope, config.object_or_empty(key));
  SHARDLAB_TRY(const double theta, rope.number_or("rope_theta", top_theta));
  SHARDLAB_TRY(const std::string old_type, rope.text_or("type", "default"));
  SHARDLAB_TRY(const std::string type, rope.text_or("rope_type", old_type));
  int scaling = 0;
  if (type == "linear") scaling = 1;
  if (type == "llama3") scaling = 2;
  if (scaling == 0 && type != "default") {
    return bad_input(rope.file(), "rope_type: not supported yet: " + type, "supported: default, linear, llama3");
  }
  SHARDLAB_TRY(const double factor, rope.number_or("factor", 1));
  SHARDLAB_TRY(const double low, rope.number_or("low_freq_factor", 1));
  SHARDLAB_TRY(const double high, rope.number_or("high_freq_factor", 4));
  SHARDLAB_TRY(const double original, rope.number_or("original_max_position_embeddings", 8192));
  if (!(theta > 0) || !(factor > 0)) return bad_input(rope.file(), "rope_theta and factor must be positive");
  if (scaling == 2 && !(high > low && low > 0)) {
    return bad_input(rope.file(), "high_freq_factor must be above low_freq_factor, both positive");
  }
  return rope_table_attributes(theta, scaling, factor, low, high, original);
}

Result<LlamaConfig> read_llama(const ModelConfig& config) {
  LlamaConfig c{};
  SHARDLAB_TRY(c.hidden, config.integer("hidden_size"));
  SHARDLAB_TRY(c.intermediate, config.integer("intermediate_size"));
  SHARDLAB_TRY(c.layers, config.integer("num_hidden_layers"));
  SHARDLAB_TRY(c.heads, config.integer("num_attention_heads"));
  SHARDLAB_TRY(c.kv_heads, config.integer_or("num_key_value_heads", c.heads));
  SHARDLAB_TRY(c.head_dim, config.integer_or("head_dim", std::max<std::int64_t>(1, c.hidden / c.heads)));
  SHARDLAB_TRY(c.vocabulary, config.integer("vocab_size"));
  SHARDLAB_TRY(c.positions, config.integer_or("max_position_embeddings", 2048));
  SHARDLAB_TRY(c.epsilon, config.number_or("rms_norm_eps", 1e-6));
  SHARDLAB_TRY(const double range, config.number_or("initializer_range", 0.02));
  SHARDLAB_TRY(c.tied, config.boolean_or("tie_word_embeddings", false));
  SHARDLAB_TRY(c.attention_bias, config.boolean_or("attention_bias", false));
  SHARDLAB_TRY(c.mlp_bias, config.boolean_or("mlp_bias", false));
  SHARDLAB_TRY(const std::string activation, config.text_or("hidden_act", "silu"));
  SHARDLAB_TRY(c.rope_table, read_rope(config));
  c.weight_scale = range * k_uniform_over_normal;
  if (activation != "silu") return bad_input(config.file(), "hidden_act: not supported yet: " + activation, "supported: silu");
  if (c.heads % c.kv_heads != 0) {
    return bad_input(config.file(), "num_attention_heads must be a multiple of num_key_value_heads");
  }
  if (c.head_dim % 2 != 0) return bad_input(config.file(), "head_dim must be even: rotary embedding turns pairs");
  if (!config.has("head_dim") && c.hidden % c.heads != 0) {
    return bad_input(config.file(), "hidden_size must be a multiple of num_attention_heads, or head_dim be given");
  }
  return c;
}

// A Linear module with its parameters.
struct Linear {
  ModuleId module;
  std::vector<ParameterId> parameters;
  std::int64_t outputs = 0;
};

struct Layer {
  ModuleId block, attention, mlp, norm1_module, norm2_module;
  Linear q, k, v, o, gate, up, down;
  ParameterId norm1, norm2;
};

class LlamaBuilder {
 public:
  LlamaBuilder(const LlamaConfig& config, const GraphOptions& options) : c_(config), b_("llama", options) {}

  ModelGraph build() {
    define_modules();
    const GraphOptions& o = b_.options();
    const TensorId tokens = b_.add_input("tokens", rows({}), DType::int64, TensorRole::tokens);
    const TensorId targets = b_.add_input("targets", rows({}), DType::int64, TensorRole::targets);
    table_ = b_.add_input("rope_table", {2, o.sequence_length, c_.head_dim / 2}, DType::float32, TensorRole::constant,
                          with_frequency_dtype(c_.rope_table, o.buffer_dtype));
    TensorId x = b_.add_operator(k_embedding, embed_.module, {tokens}, embed_.parameters, "hidden", rows({c_.hidden}));
    for (const Layer& layer : layers_) x = run_layer(layer, x);
    x = norm(norm_module_, norm_, x);
    const TensorId logits = linear(head_, x, "logits");
    const TensorId loss = b_.add_operator(k_cross_entropy, model_, {logits, targets}, {}, "loss", Shape{});
    return b_.finish(loss, "LlamaDecoderLayer", c_.layers, c_.vocabulary);
  }

 private:
  Shape rows(const Shape& inner) const {
    Shape shape{b_.options().micro_batch, b_.options().sequence_length};
    shape.insert(shape.end(), inner.begin(), inner.end());
    return shape;
  }

  Linear define_linear(ModuleId parent, std::string_view name, std::int64_t inputs, std::int64_t outputs, bool bias) {
    Linear linear{b_.add_module(parent, name, "Linear"), {}, outputs};
    linear.parameters.push_back(
        b_.add_parameter(linear.module, "weight", {outputs, inputs}, InitialValue::uniform, c_.weight_scale));
    if (bias) linear.parameters.push_back(b_.add_parameter(linear.module, "bias", {outputs}, InitialValue::zeros));
    return linear;
  }

  ParameterId define_norm(ModuleId module) { return b_.add_parameter(module, "weight", {c_.hidden}, InitialValue::ones); }

  Layer define_layer(ModuleId list, std::int64_t index) {
    Layer layer;
    layer.block = b_.add_module(list, std::to_string(index), "LlamaDecoderLayer");
    layer.attention = b_.add_module(layer.block, "self_attn", "LlamaAttention");
    const bool attention_bias = c_.attention_bias;
    layer.q = define_linear(layer.attention, "q_proj", c_.hidden, c_.heads * c_.head_dim, attention_bias);
    layer.k = define_linear(layer.attention, "k_proj", c_.hidden, c_.kv_heads * c_.head_dim, attention_bias);
    layer.v = define_linear(layer.attention, "v_proj", c_.hidden, c_.kv_heads * c_.head_dim, attention_bias);
    layer.o = define_linear(layer.attention, "o_proj", c_.heads * c_.head_dim, c_.hidden, attention_bias);
    layer.mlp = b_.add_module(layer.block, "mlp", "LlamaMLP");
    layer.gate = define_linear(layer.mlp, "gate_proj", c_.hidden, c_.intermediate, c_.mlp_bias);
    layer.up = define_linear(layer.mlp, "up_proj", c_.hidden, c_.intermediate, c_.mlp_bias);
    layer.down = define_linear(layer.mlp, "down_proj", c_.intermediate, c_.hidden, c_.mlp_bias);
    b_.add_module(layer.mlp, "act_fn", "SiLUActivation");
    layer.norm1_module = b_.add_module(layer.block, "input_layernorm", "LlamaRMSNorm");
    layer.norm1 = define_norm(layer.norm1_module);
    layer.norm2_module = b_.add_module(layer.block, "post_attention_layernorm", "LlamaRMSNorm");
    layer.norm2 = define_norm(layer.norm2_module);
    return layer;
  }

  void define_modules() {
    model_ = b_.add_module(std::nullopt, "", "LlamaForCausalLM");
    const ModuleId inner = b_.add_module(model_, "model", "LlamaModel");
    embed_.module = b_.add_module(inner, "embed_tokens", "Embedding");
    embed_.parameters = {
        b_.add_parameter(embed_.module, "weight", {c_.vocabulary, c_.hidden}, InitialValue::uniform, c_.weight_scale)};
    const ModuleId list = b_.add_module(inner, "layers", "ModuleList");
    layers_.reserve(static_cast<std::size_t>(c_.layers));
    for (std::int64_t index = 0; index < c_.layers; ++index) layers_.push_back(define_layer(list, index));
    norm_module_ = b_.add_module(inner, "norm", "LlamaRMSNorm");
    norm_ = define_norm(norm_module_);
    b_.add_module(inner, "rotary_emb", "LlamaRotaryEmbedding");
    if (!c_.tied) {
      head_ = define_linear(model_, "lm_head", c_.hidden, c_.vocabulary, false);
      return;
    }
    head_ = {b_.add_module(model_, "lm_head", "Linear"), embed_.parameters, c_.vocabulary};
    b_.tie_parameter(head_.module, embed_.parameters[0]);
  }

  TensorId linear(const Linear& linear, TensorId x, std::string_view label) {
    return b_.add_operator(k_linear, linear.module, {x}, linear.parameters, label, rows({linear.outputs}));
  }
  TensorId norm(ModuleId module, ParameterId weight, TensorId x) {
    return b_.add_operator(k_rms_norm, module, {x}, {weight}, "normed", rows({c_.hidden}), {{"epsilon", c_.epsilon}});
  }
  TensorId rope(ModuleId module, TensorId x, std::string_view label) {
    const Attributes attributes{{"head_dim", static_cast<double>(c_.head_dim)}};
    return b_.add_operator(k_rope, module, {x, table_}, {}, label, b_.tensor(x).shape, attributes);
  }
  TensorId attend(ModuleId module, TensorId q, TensorId k, TensorId v) {
    const Attributes attributes{{"heads", static_cast<double>(c_.heads)},
                                {"kv_heads", static_cast<double>(c_.kv_heads)},
                                {"head_dim", static_cast<double>(c_.head_dim)}};
    return b_.add_operator(k_attention, module, {q, k, v}, {}, "attended", b_.tensor(q).shape, attributes);
  }
  TensorId residual(ModuleId module, TensorId x, TensorId delta) {
    return b_.add_operator(k_add, module, {x, delta}, {}, "hidden", rows({c_.hidden}));
  }

  TensorId run_layer(const Layer& layer, TensorId x) {
    const TensorId normed1 = norm(layer.norm1_module, layer.norm1, x);
    const TensorId q = rope(layer.attention, linear(layer.q, normed1, "query"), "rotated_query");
    const TensorId k = rope(layer.attention, linear(layer.k, normed1, "key"), "rotated_key");
    const TensorId v = linear(layer.v, normed1, "value");
    const TensorId attended = linear(layer.o, attend(layer.attention, q, k, v), "attention_output");
    const TensorId middle = residual(layer.block, x, attended);
    const TensorId normed2 = norm(layer.norm2_module, layer.norm2, middle);
    const TensorId gate = linear(layer.gate, normed2, "gate");
    const TensorId up = linear(layer.up, normed2, "up");
    const TensorId product = b_.add_operator(k_swiglu, layer.mlp, {gate, up}, {}, "gated", rows({c_.intermediate}));
    return residual(layer.block, middle, linear(layer.down, product, "mlp_output"));
  }

  LlamaConfig c_;
  GraphBuilder b_;
  ModuleId model_, norm_module_;
  Linear embed_, head_;
  std::vector<Layer> layers_;
  ParameterId norm_;
  TensorId table_;
};

}  // namespace

Result<ModelGraph> build_llama(const ModelConfig& config, const GraphOptions& options) {
  SHARDLAB_TRY(const LlamaConfig c, read_llama(config));
  if (options.sequence_length > c.positions) {
    return bad_input("model.sequence_length",
                     std::to_string(options.sequence_length) + " is above the model's max_position_embeddings " +
                         std::to_string(c.positions),
                     "shorten the sequence or override max_position_embeddings");
  }
  return LlamaBuilder(c, options).build();
}

}  // namespace shardlab
