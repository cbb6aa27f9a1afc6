// Attention on any device: fused kernels where they have the variant, else plain products.
#include "engine/execute/torch/operators/aten/attention_fused.h"
#include "engine/execute/torch/operators/aten/attention_math.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/eager_attention.h"

namespace shardlab {

// Fused kernels where they have the variant, else plain products.

namespace {

void attention_forward(const ForwardArguments& arguments) {
  const AttentionSettings settings = attention_settings(arguments.op, arguments.inputs);
  const AttentionViews in = attention_views(arguments.op, arguments.inputs);
  const FusedAttention kernel = fused_attention(settings, in);
  if (kernel == FusedAttention::none) {
    attention_math_forward(settings, in, arguments.outputs[0], arguments.extras[0]);
  } else {
    attention_fused_forward(kernel, settings, in, arguments.outputs[0], arguments.extras[0]);
  }
}

void attention_backward(const BackwardArguments& arguments) {
  const AttentionSettings settings = attention_settings(arguments.op, arguments.saved_inputs);
  const AttentionViews in = attention_views(arguments.op, arguments.saved_inputs);
  const AttentionViews gradients = attention_views(arguments.op, arguments.input_gradients);
  const at::Tensor &output = arguments.saved_outputs[0], &sums = arguments.extras[0];
  const at::Tensor& dy = arguments.output_gradients[0];
  const FusedAttention kernel = fused_attention(settings, in);
  if (kernel == FusedAttention::none) {
    attention_math_backward(settings, in, output, sums, dy, gradients);
  } else {
    attention_fused_backward(kernel, settings, in, output, sums, dy, gradients, arguments.input_gradients);
  }
}

}  // namespace

extern const OperatorImplementation k_device_attention{attention_forward, attention_backward};

// The memory-efficient kernel with whole matrices of biases where it has the variant, else attention with
// biases by key; and the gradient as that of views of one tensor.

namespace {

AttentionSettings with_mask(const Operator& op, std::span<const at::Tensor> inputs) {
  AttentionSettings settings = attention_settings(op, inputs.first(1));
  settings.mask = inputs[1];
  return settings;
}

void masked_attention_forward(const ForwardArguments& arguments) {
  const AttentionSettings settings = with_mask(arguments.op, arguments.inputs);
  const AttentionViews in = attention_views(arguments.op, arguments.inputs);
  const FusedAttention kernel = fused_attention(settings, in);
  if (kernel != FusedAttention::none)
    return attention_fused_forward(kernel, settings, in, arguments.outputs[0], arguments.extras[0]);
  const auto inputs = with_biases_by_key(arguments.inputs);
  k_device_attention.forward(
      {arguments.op, arguments.graph, inputs, arguments.parameters, arguments.outputs, arguments.extras});
}

void backward_kernel(const BackwardArguments& arguments) {
  const AttentionSettings settings = with_mask(arguments.op, arguments.saved_inputs);
  const AttentionViews in = attention_views(arguments.op, arguments.saved_inputs);
  const FusedAttention kernel = fused_attention(settings, in);
  if (kernel != FusedAttention::none) {
    const AttentionViews gradients = attention_views(arguments.op, arguments.input_gradients);
    return attention_fused_backward(kernel, settings, in, arguments.saved_outputs[0], arguments.extras[0],
                                    arguments.output_gradients[0], gradients,
                                    arguments.input_gradients.first(1));
  }
  const auto inputs = with_biases_by_key(arguments.saved_inputs);
  k_device_attention.backward({arguments.op, arguments.graph, arguments.output_gradients, arguments.seed,
                               inputs, arguments.saved_outputs, arguments.parameters, arguments.extras,
                               arguments.input_gradients, arguments.parameter_gradients});
}

void masked_attention_backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  backward_kernel(arguments);
  add_gradients_of_views(arguments.op, arguments.input_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_device_eager_masked_attention{masked_attention_forward,
                                                                    masked_attention_backward};

}  // namespace shardlab
