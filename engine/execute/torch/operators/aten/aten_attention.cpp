// Fused kernels where they have the variant, else plain products.
#include "engine/execute/torch/operators/aten/attention_fused.h"
#include "engine/execute/torch/operators/aten/attention_math.h"
#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const AttentionSettings settings = attention_settings(arguments.op, arguments.inputs);
  const AttentionViews in = attention_views(arguments.op, arguments.inputs);
  const FusedAttention kernel = fused_attention(settings, in.q);
  if (kernel == FusedAttention::none) {
    attention_math_forward(settings, in, arguments.outputs[0], arguments.extras[0]);
  } else {
    attention_fused_forward(kernel, settings, in, arguments.outputs[0], arguments.extras[0]);
  }
}

void backward(const BackwardArguments& arguments) {
  const AttentionSettings settings = attention_settings(arguments.op, arguments.saved_inputs);
  const AttentionViews in = attention_views(arguments.op, arguments.saved_inputs);
  const AttentionViews gradients = attention_views(arguments.op, arguments.input_gradients);
  const at::Tensor &output = arguments.saved_outputs[0], &sums = arguments.extras[0];
  const at::Tensor& dy = arguments.output_gradients[0];
  const FusedAttention kernel = fused_attention(settings, in.q);
  if (kernel == FusedAttention::none) {
    attention_math_backward(settings, in, output, sums, dy, gradients);
  } else {
    attention_fused_backward(kernel, settings, in, output, sums, dy, gradients, arguments.input_gradients);
  }
}

}  // namespace

extern const OperatorImplementation k_device_attention{forward, backward};

}  // namespace shardlab
