// The kernel for processors knows windows by itself: the matrix is made because PyTorch keeps it, not read.
#include "engine/execute/torch/operators/implementation_list.h"
#include "engine/execute/torch/operators/windowed_attention.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  fill_kept(arguments, kept);
  const WindowedCall call(arguments.op, kept, arguments.inputs);
  k_attention_implementation.forward(
      {call.op, arguments.graph, call.inputs, arguments.parameters, arguments.outputs, arguments.extras});
}

void backward(const BackwardArguments& arguments) {
  const WindowedCall call(arguments.op, KeptExtras(arguments), arguments.saved_inputs);
  std::array<at::Tensor, 3> gradients = kernel_gradients(arguments, call);
  k_attention_implementation.backward({call.op, arguments.graph, arguments.output_gradients, arguments.seed,
                                       call.inputs, arguments.saved_outputs, arguments.parameters,
                                       arguments.extras, gradients, arguments.parameter_gradients});
  finish_gradients(arguments, call, std::move(gradients));
}

}  // namespace

extern const OperatorImplementation k_eager_windowed_attention_implementation{forward, backward};

}  // namespace shardlab
