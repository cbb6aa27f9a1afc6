#include "engine/model/families/decoder_parts.h"

namespace shardlab {

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
