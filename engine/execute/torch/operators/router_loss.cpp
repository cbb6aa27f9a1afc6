// Workspace: none. Sums in double.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

// Of the sum over experts of assignments times probabilities.
double factor_of(const Operator& op, std::int64_t experts) {
  const auto rows = static_cast<double>(op.attributes.get(attribute::k_rows));
  return op.attributes.get(attribute::k_weight) * static_cast<double>(experts) / (rows * rows);
}

void forward(const ForwardArguments& arguments) {
  const std::int64_t experts = width_of(arguments.inputs[1]);
  const float* sums = data_of<float>(arguments.inputs[1]);
  double sum = 0;
  for (std::int64_t e = 0; e < experts; ++e)
    sum += static_cast<double>(sums[e]) * static_cast<double>(sums[experts + e]);
  *data_of<float>(arguments.outputs[0]) = static_cast<float>(
      static_cast<double>(*data_of<float>(arguments.inputs[0])) + factor_of(arguments.op, experts) * sum);
}

// What the assignments would have is zero: they are counted, not computed.
void backward(const BackwardArguments& arguments) {
  const at::Tensor& gradient = arguments.input_gradients[1];
  if (!gradient.defined()) return;
  const std::int64_t experts = width_of(gradient);
  const float* sums = data_of<float>(arguments.saved_inputs[1]);
  float* out = data_of<float>(gradient);
  const double factor = arguments.seed * factor_of(arguments.op, experts);
  std::fill_n(out, experts, 0.0f);
  for (std::int64_t e = 0; e < experts; ++e)
    out[experts + e] = static_cast<float>(factor * static_cast<double>(sums[e]));
}

}  // namespace

extern const OperatorImplementation k_router_loss_implementation{forward, backward};

}  // namespace shardlab
