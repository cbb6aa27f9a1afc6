// Workspace: none.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

float cap_of(const Operator& op) {
  return static_cast<float>(op.attributes.get(attribute::k_cap));
}

void forward(const ForwardArguments& arguments) {
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(arguments.inputs[0]);
    T* y = data_of<T>(arguments.outputs[0]);
    for_rows(arguments.inputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().soft_cap_forward(cap_of(arguments.op), x + begin, end - begin, y + begin);
    });
  });
}

void backward(const BackwardArguments& arguments) {
  if (!arguments.input_gradients[0].defined()) return;
  with_element_type(arguments.saved_outputs[0], [&](auto element) {
    using T = decltype(element);
    const T* dy = data_of<T>(arguments.output_gradients[0]);
    const T* y = data_of<T>(arguments.saved_outputs[0]);
    T* dx = data_of<T>(arguments.input_gradients[0]);
    for_rows(arguments.saved_outputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().soft_cap_backward(cap_of(arguments.op), dy + begin, y + begin, end - begin,
                                         dx + begin);
    });
  });
}

}  // namespace

extern const OperatorImplementation k_soft_cap_implementation{forward, backward};

}  // namespace shardlab
