#include "engine/report/model_flops.h"

#include <algorithm>

#include "engine/model/freeze.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {
namespace {

bool is_trained(const Parameter& parameter) {
  return parameter.trainable;
}

Flops model_flops_of(const std::vector<Work>& works) {
  Flops sum;
  for (const Work& work : works) sum += work.model_flops;
  return sum;
}

Flops model_flops_of(const ModelGraph& graph) {
  Flops sum;
  for (const Operator& op : graph.operators) {
    const OperatorDescription description = describe_operator(graph, op);
    sum += model_flops_of(description.forward);
    sum += model_flops_of(description.backward);
  }
  return sum;
}

// What a micro-batch spends on gradients of frozen parameters and on what lies upstream of them alone.
Flops needless_flops(const ModelGraph& graph) {
  const auto in_vain = [](const Parameter& parameter) {
    return parameter.requires_grad && !parameter.trainable;
  };
  if (std::none_of(graph.parameters.begin(), graph.parameters.end(), in_vain)) return {};
  ModelGraph needed = graph;
  for (Parameter& parameter : needed.parameters) parameter.requires_grad = parameter.trainable;
  derive_requires_grad(needed);
  return model_flops_of(graph) - model_flops_of(needed);
}

// L h: over the layers, the width of what attention makes.
std::int64_t attention_widths(const ModelGraph& graph) {
  std::int64_t widths = 0;
  for (const Operator& op : graph.operators) {
    if (op.type->category != OperatorCategory::attention) continue;
    widths += op.attributes.get(attribute::k_heads) * op.attributes.get(attribute::k_head_dim);
  }
  return widths;
}

}  // namespace

Flops model_flops_per_step(const PlannedScenario& planned) {
  Flops sum;
  for (const Segment& segment : planned.partition.segments)
    sum += model_flops_of(segment.programs.forward.work) + model_flops_of(segment.programs.backward.work);
  return (sum - needless_flops(planned.graph)) * planned.plan.steady.micro_batches;
}

std::optional<Flops> palm_flops_per_step(const PlannedScenario& planned) {
  const ModelGraph& graph = planned.graph;
  if (graph.teacher || graph.parameters.empty() ||
      !std::all_of(graph.parameters.begin(), graph.parameters.end(), is_trained)) {
    return std::nullopt;
  }
  const Flops of_token = Flops{6} * active_parameters(graph) +
                         Flops{12} * saturated_product(attention_widths(graph), graph.sequence_length);
  return of_token *
         saturated_product(graph.micro_batch, graph.sequence_length, planned.plan.steady.micro_batches);
}

}  // namespace shardlab
