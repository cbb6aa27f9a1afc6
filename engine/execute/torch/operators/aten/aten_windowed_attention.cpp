// Attention that is handed the matrix of its window: by the fused kernel that torch takes for one, else by
// plain products that know the window.
#include "engine/execute/torch/operators/aten/attention_fused.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/windowed_attention.h"

namespace shardlab {
namespace {

// For the kernel that is taken.
struct KernelCall {
  AttentionSettings settings;
  AttentionViews in;
  FusedAttention kernel;

  KernelCall(const WindowedCall& call, const KeptExtras& kept)
      : settings(attention_settings(call.op, call.inputs)), in(attention_views(call.op, call.inputs)) {
    AttentionSettings with_matrix = settings;
    const at::Tensor matrix = kept.find("matrix");
    with_matrix.mask = matrix.expand({matrix.size(0), settings.heads, matrix.size(2), matrix.size(3)});
    kernel = fused_attention(with_matrix, in);
    if (kernel != FusedAttention::none) settings = with_matrix;
  }
};

void forward(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  fill_kept(arguments, kept);
  const WindowedCall call(arguments.op, kept, arguments.inputs);
  const KernelCall kernel(call, kept);
  const at::Tensor &output = arguments.outputs[0], log_sum_exp = kept.find("log_sum_exp");
  if (kernel.kernel == FusedAttention::none)
    return attention_math_forward(kernel.settings, kernel.in, output, log_sum_exp);
  attention_fused_forward(kernel.kernel, kernel.settings, kernel.in, output, log_sum_exp);
}

void backward(const BackwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const WindowedCall call(arguments.op, kept, arguments.saved_inputs);
  std::array<at::Tensor, 3> gradients = kernel_gradients(arguments, call);
  const KernelCall kernel(call, kept);
  const at::Tensor &output = arguments.saved_outputs[0], &dy = arguments.output_gradients[0],
                   log_sum_exp = kept.find("log_sum_exp");
  const AttentionViews views = attention_views(call.op, gradients);
  if (kernel.kernel == FusedAttention::none) {
    attention_math_backward(kernel.settings, kernel.in, output, log_sum_exp, dy, views);
  } else {
    attention_fused_backward(kernel.kernel, kernel.settings, kernel.in, output, log_sum_exp, dy, views,
                             gradients);
  }
  finish_gradients(arguments, call, std::move(gradients));
}

}  // namespace

extern const OperatorImplementation k_device_eager_windowed_attention{forward, backward};

}  // namespace shardlab
