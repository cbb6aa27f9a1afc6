// Workspace: none.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const GeluForm form = gelu_form(arguments.op);
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(arguments.inputs[0]);
    T* y = data_of<T>(arguments.outputs[0]);
    for_rows(arguments.inputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().gelu_forward(form, x + begin, end - begin, y + begin);
    });
  });
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  const GeluForm form = gelu_form(arguments.op);
  with_element_type(arguments.saved_inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* dy = data_of<T>(arguments.output_gradients[0]);
    const T* x = data_of<T>(arguments.saved_inputs[0]);
    T* dx = data_of<T>(arguments.input_gradients[0]);
    for_rows(arguments.saved_inputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().gelu_backward(form, dy + begin, x + begin, end - begin, dx + begin);
    });
  });
}

}  // namespace

extern const OperatorImplementation k_gelu_implementation{forward, backward};

}  // namespace shardlab
