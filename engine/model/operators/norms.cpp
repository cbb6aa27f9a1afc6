// Norms over rows.
#include "engine/model/operators/cast_parameters.h"
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {

// y = (x - mean(x)) / sqrt(variance(x) + epsilon) * w (+ b) over pieces of w's width of
// the last dimension: all of it, or the heads of queries and keys. Parameters: w [width], optional b [width].
// Attributes: epsilon; low_precision where torch.autocast is switched off around it and it computes in
// autocast's dtype (LPLayerNorm of llm-foundry).
//
// Keeps x and, in float32, one mean and one reciprocal deviation a piece.

namespace {

OperatorDescription describe_layer_norm(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const std::int64_t width = graph.parameter(op.parameters[0]).shape[0];
  const std::int64_t rows = element_count(x.shape) / width;
  OperatorDescription description;
  description.saved_inputs = 1;
  description.extras.push_back({"mean", {rows}, DType::float32});
  description.extras.push_back({"reciprocal_deviation", {rows}, DType::float32});
  for (const ParameterId id : op.parameters) {  // sums of the parameters' gradients
    if (graph.parameter(id).requires_grad) description.backward_workspace += bytes_of(width, DType::float32);
  }
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  add_parameter_casts(graph, op, x, description);
  return description;
}

}  // namespace

extern const OperatorType k_layer_norm{
    .name = "layer_norm",
    .describe = describe_layer_norm,
    .probe = &k_norm_probe,
    .autocast = AutocastRule::full,
    .casts_parameters = true,
};

// y = x / sqrt(mean(x^2) + epsilon) * (w + offset) over pieces of w's width of the last dimension: all of it,
// or the heads of queries and keys. Parameter: w [width]. Attributes: epsilon, and offset where it is not 0
// (Gemma: 1).
//
// Keeps x and one float32 reciprocal deviation a piece.

namespace {

OperatorDescription describe_rms_norm(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const std::int64_t width = graph.parameter(op.parameters[0]).shape[0];
  const std::int64_t rows = element_count(x.shape) / width;
  OperatorDescription description;
  description.saved_inputs = 1;
  description.extras.push_back({"reciprocal_deviation", {rows}, DType::float32});
  if (graph.parameter(op.parameters[0]).requires_grad) {
    description.backward_workspace = bytes_of(width, DType::float32);  // sums of the weight's gradient
  }
  description.forward.push_back(memory_work(x.bytes() * 2));
  description.backward.push_back(memory_work(x.bytes() * 3));
  return description;
}

}  // namespace

extern const OperatorType k_rms_norm{
    .name = "rms_norm",
    .describe = describe_rms_norm,
    .probe = &k_norm_probe,
    .common = true,
    .eager_type = &k_eager_rms_norm,
};

}  // namespace shardlab
