#include "engine/model/families/decoder_parts.h"

#include "engine/model/constants.h"

namespace shardlab {

DecoderParts::DecoderParts(std::string family, const GraphOptions& options, double initializer_range)
    : builder(std::move(family), options), weight_scale_(initializer_range * k_uniform_over_normal) {
  const Shape batch{options.micro_batch, options.sequence_length};
  tokens_ = builder.add_input("tokens", batch, DType::int64, TensorRole::tokens);
  targets_ = builder.add_input("targets", batch, DType::int64, TensorRole::targets);
}

LinearPart DecoderParts::define_linear(ModuleId parent, std::string_view name, std::int64_t inputs,
                                       std::int64_t outputs, bool bias, std::string_view class_name) {
  LinearPart part{builder.add_module(parent, name, class_name), {}, outputs};
  part.parameters.push_back(
      builder.add_parameter(part.module, "weight", {outputs, inputs}, InitialValue::uniform, weight_scale_));
  if (bias)
    part.parameters.push_back(builder.add_parameter(part.module, "bias", {outputs}, InitialValue::zeros));
  return part;
}

LinearPart DecoderParts::define_conv1d(ModuleId parent, std::string_view name, std::int64_t inputs,
                                       std::int64_t outputs) {
  LinearPart part{builder.add_module(parent, name, "Conv1D"), {}, outputs, true};
  part.parameters = {
      builder.add_parameter(part.module, "weight", {inputs, outputs}, InitialValue::uniform, weight_scale_),
      builder.add_parameter(part.module, "bias", {outputs}, InitialValue::zeros)};
  return part;
}

LinearPart DecoderParts::define_embedding(ModuleId parent, std::string_view name, std::int64_t rows,
                                          std::int64_t width, std::string_view class_name) {
  LinearPart part = define_linear(parent, name, width, rows, false, class_name);
  part.outputs = width;
  return part;
}

NormPart DecoderParts::define_norm(ModuleId parent, std::string_view name, std::string_view class_name,
                                   std::int64_t width, NormKind kind) {
  NormPart part{builder.add_module(parent, name, class_name), {}, kind, false};
  const InitialValue initial = kind == NormKind::rms_offset ? InitialValue::zeros : InitialValue::ones;
  part.parameters.push_back(builder.add_parameter(part.module, "weight", {width}, initial));
  if (kind == NormKind::layer)
    part.parameters.push_back(builder.add_parameter(part.module, "bias", {width}, InitialValue::zeros));
  return part;
}

LinearPart DecoderParts::define_head(ModuleId model, const LinearPart& embedding, bool tied, bool bias) {
  const Shape table = builder.parameter(embedding.parameters[0]).shape;
  if (!tied) return define_linear(model, "lm_head", table[1], table[0], bias);
  LinearPart part{builder.add_module(model, "lm_head", "Linear"), embedding.parameters, table[0]};
  builder.tie_parameter(part.module, part.parameters[0]);
  if (bias)
    part.parameters.push_back(builder.add_parameter(part.module, "bias", {table[0]}, InitialValue::zeros));
  return part;
}

Shape DecoderParts::rows(std::int64_t width) const {
  return {builder.options().micro_batch, builder.options().sequence_length, width};
}

TensorId DecoderParts::embed(const LinearPart& embedding, std::optional<std::int64_t> padding, double scale) {
  Attributes attributes;
  if (scale != 0) attributes.set(attribute::k_scale, scale);
  if (padding) attributes.set(attribute::k_padding, *padding);
  return builder.add_operator(k_embedding, embedding.module, {tokens_}, embedding.parameters, "hidden",
                              rows(embedding.outputs), attributes);
}

TensorId DecoderParts::linear(const LinearPart& linear, TensorId x, std::string_view label) {
  Attributes attributes;
  if (linear.transposed) attributes.set(attribute::k_transposed, true);
  return builder.add_operator(k_linear, linear.module, {x}, linear.parameters, label, rows(linear.outputs),
                              attributes);
}

TensorId DecoderParts::norm(const NormPart& norm, TensorId x, double epsilon) {
  return head_norm(norm, x, epsilon, "normed");
}

TensorId DecoderParts::head_norm(const NormPart& norm, TensorId x, double epsilon, std::string_view label) {
  const bool rms = norm.kind == NormKind::rms || norm.kind == NormKind::rms_offset;
  Attributes attributes{{attribute::k_epsilon, epsilon}};
  if (norm.kind == NormKind::rms_offset) attributes.set(attribute::k_offset, 1);
  if (norm.low_precision) attributes.set(attribute::k_low_precision, true);
  return builder.add_operator(rms ? k_rms_norm : k_layer_norm, norm.module, {x}, norm.parameters, label,
                              builder.tensor(x).shape, attributes);
}

TensorId DecoderParts::add(ModuleId module, TensorId a, TensorId b, std::string_view label) {
  return builder.add_operator(k_add, module, {a, b}, {}, label, builder.tensor(a).shape);
}

TensorId DecoderParts::activate(ModuleId module, Activation activation, TensorId x) {
  if (activation == Activation::silu)
    return builder.add_operator(k_silu, module, {x}, {}, "activated", builder.tensor(x).shape);
  Attributes attributes;
  if (activation == Activation::gelu_tanh) attributes.set(attribute::k_tanh, true);
  return builder.add_operator(k_gelu, module, {x}, {}, "activated", builder.tensor(x).shape, attributes);
}

// The modules of transformers activate before they ask for the other factor, and multiply in a kernel of its
// own (5.23, modeling_llama.py LlamaMLP), unless a compiler makes one of both.
TensorId DecoderParts::gated(ModuleId module, Activation activation, const LinearPart& gate,
                             const LinearPart& up, TensorId x) {
  const GraphOptions& options = builder.options();
  const TensorId turned = linear(gate, x, "gate");
  if (options.implementation == Implementation::eager && options.compile == CompileScope::none) {
    const TensorId activated = activate(module, activation, turned);
    const TensorId factor = linear(up, x, "up");
    return builder.add_operator(k_multiply, module, {activated, factor}, {}, "gated",
                                builder.tensor(turned).shape);
  }
  const TensorId factor = linear(up, x, "up");
  Attributes attributes;
  if (activation == Activation::gelu_tanh) attributes.set(attribute::k_tanh, true);
  return builder.add_operator(activation == Activation::silu ? k_swiglu : k_geglu, module, {turned, factor},
                              {}, "gated", builder.tensor(turned).shape, attributes);
}

TensorId DecoderParts::rope(ModuleId module, TensorId x, TensorId table, std::int64_t head_dim,
                            std::string_view label, std::int64_t turned, std::int64_t passed) {
  Attributes attributes{{attribute::k_head_dim, head_dim}};
  if (turned > 0) {
    attributes.set(attribute::k_turned, turned);
    attributes.set(attribute::k_passed, passed);
  }
  return builder.add_operator(k_rope, module, {x, table}, {}, label, builder.tensor(x).shape, attributes);
}

namespace {

// A window as long as the sequence hides nothing, but the modules make a mask for it (eager_forms.h).
bool counts(std::int64_t window, const GraphOptions& options) {
  if (window == options.sequence_length) return options.implementation == Implementation::eager;
  return window > 0 && window < options.sequence_length;
}

}  // namespace

TensorId DecoderParts::dropout(ModuleId module, double share, TensorId x) {
  if (share == 0) return x;
  return builder.add_operator(k_dropout, module, {x}, {}, "dropped", builder.tensor(x).shape,
                              {{attribute::k_dropout, share}});
}

TensorId DecoderParts::attend(ModuleId module, const AttentionPart& attention,
                              const std::vector<TensorId>& qkv) {
  Attributes attributes{{attribute::k_heads, attention.heads},
                        {attribute::k_kv_heads, attention.kv_heads},
                        {attribute::k_head_dim, attention.head_dim}};
  if (attention.packed != Packing::separate) attributes.set(attribute::k_packed, attention.packed);
  if (attention.scale != 0) attributes.set(attribute::k_scale, attention.scale);
  if (counts(attention.window, builder.options())) attributes.set(attribute::k_window, attention.window);
  if (attention.soft_cap != 0) attributes.set(attribute::k_soft_cap, attention.soft_cap);
  if (attention.narrow_softmax) attributes.set(attribute::k_narrow_softmax, true);
  if (attention.dropout != 0) attributes.set(attribute::k_dropout, attention.dropout);
  std::vector<TensorId> inputs = qkv;
  if (attention.bias) inputs.push_back(*attention.bias);
  return builder.add_operator(k_attention, module, inputs, {}, "attended",
                              rows(attention.heads * attention.head_dim), attributes);
}

TensorId DecoderParts::loss(ModuleId model, TensorId logits, double router_weight) {
  if (!router_sums_)
    return builder.add_operator(k_cross_entropy, model, {logits, targets_}, {}, "loss", Shape{});
  const TensorId of_tokens =
      builder
          .add_operator(k_cross_entropy, model, {logits, targets_}, {},
                        {{"token_loss", Shape{}, DType::float32, TensorRole::statistic}})
          .front();
  return builder.add_operator(k_router_loss, model, {of_tokens, *router_sums_}, {}, "loss", Shape{},
                              {{attribute::k_weight, router_weight}, {attribute::k_rows, routed_rows_}});
}

TensorId DecoderParts::rope_table(const Attributes& attributes, std::int64_t rotary_dim) {
  const GraphOptions& o = builder.options();
  return builder.add_input("rope_table", {2, o.sequence_length, rotary_dim / 2}, DType::float32,
                           TensorRole::constant, with_frequency_dtype(attributes, o.buffer_dtype));
}

TensorId DecoderParts::alibi_table(const Attributes& attributes, std::int64_t heads) {
  return builder.add_input("alibi", {heads, builder.options().sequence_length}, DType::float32,
                           TensorRole::constant, attributes);
}

void DecoderParts::define_experts(ExpertsPart& part, std::string_view prefix, std::int64_t hidden,
                                  bool router_first, const char* activation_class) {
  const std::string name(prefix);
  const auto define_router = [&] {
    part.router = define_linear(part.module, "gate", hidden, part.count, false, name + "TopKRouter");
  };
  if (router_first) define_router();
  part.experts = builder.add_module(part.module, "experts", name + "Experts");
  part.gate_up = builder.add_parameter(part.experts, "gate_up_proj", {part.count, 2 * part.width, hidden},
                                       InitialValue::uniform, weight_scale_);
  part.down = builder.add_parameter(part.experts, "down_proj", {part.count, hidden, part.width},
                                    InitialValue::uniform, weight_scale_);
  builder.add_module(part.experts, "act_fn", activation_class);
  if (!router_first) define_router();
}

TensorId DecoderParts::run_experts(const ExpertsPart& experts, TensorId x) {
  const Shape rows_of_x = builder.tensor(x).shape;
  const std::int64_t hidden = rows_of_x[2];
  const Shape slots{rows_of_x[0], rows_of_x[1], experts.per_token};
  const std::int64_t assignments = element_count(slots);
  const DType dtype = builder.options().compute_dtype;
  const TensorId logits = linear(experts.router, x, "router_logits");
  const std::vector<TensorId> chosen =
      builder.add_operator(k_top_k, experts.router.module, {logits}, {},
                           {{"router_weights", slots, dtype}, {"chosen_experts", slots, DType::int64}},
                           {{attribute::k_normalized, experts.normalized}});
  if (experts.balanced) sum_router(experts, logits, chosen[1]);
  const std::vector<TensorId> sent = builder.add_operator(k_dispatch, experts.experts, {x, chosen[1]}, {},
                                                          {{"expert_rows", {assignments, hidden}, dtype},
                                                           {"places", {assignments}, DType::int64},
                                                           {"expert_counts", {experts.count}, DType::int64}});
  const ExpertLoad load = builder.options().expert_load;
  Attributes attributes{
      {attribute::k_per_token, experts.per_token},
      {attribute::k_assumed_groups, load == ExpertLoad::worst ? experts.per_token : experts.count}};
  if (load == ExpertLoad::stated) {
    const std::size_t lists = builder.options().expert_shares.size();
    attributes.set(attribute::k_assumed_shares,
                   lists > 1 ? 1 + static_cast<std::int64_t>(expert_layers_) : 1);
  }
  ++expert_layers_;
  const TensorId gate_up =
      builder.add_operator(k_grouped_linear, experts.experts, {sent[0], sent[2]}, {experts.gate_up},
                           "gate_up", {assignments, 2 * experts.width}, attributes);
  const TensorId gated =
      builder.add_operator(k_swiglu, experts.experts, {gate_up}, {}, "gated", {assignments, experts.width});
  const TensorId results =
      builder.add_operator(k_grouped_linear, experts.experts, {gated, sent[2]}, {experts.down},
                           "expert_results", {assignments, hidden}, attributes);
  return builder.add_operator(k_combine, experts.experts, {results, chosen[0], sent[1]}, {}, "mlp_output",
                              rows_of_x);
}

void DecoderParts::sum_router(const ExpertsPart& experts, TensorId logits, TensorId chosen) {
  std::vector<TensorId> inputs{logits, chosen};
  if (router_sums_) inputs.push_back(*router_sums_);
  const std::vector<GraphBuilder::Output> sums{
      {"router_sums", {2, experts.count}, DType::float32, TensorRole::statistic}};
  router_sums_ = builder.add_operator(k_router_sums, experts.router.module, inputs, {}, sums).front();
  routed_rows_ += builder.options().micro_batch * builder.options().sequence_length;
}

}  // namespace shardlab
