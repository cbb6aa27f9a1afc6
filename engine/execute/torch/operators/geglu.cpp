// Workspace: none.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const GeluForm form = gelu_form(arguments.op);
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* gate = data_of<T>(arguments.inputs[0]);
    const T* up = data_of<T>(arguments.inputs[1]);
    T* y = data_of<T>(arguments.outputs[0]);
    for_rows(arguments.inputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().geglu_forward(form, gate + begin, up + begin, end - begin, y + begin);
    });
  });
}

void backward(const BackwardArguments& arguments) {
  const GeluForm form = gelu_form(arguments.op);
  with_element_type(arguments.saved_inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* dy = data_of<T>(arguments.output_gradients[0]);
    const T* gate = data_of<T>(arguments.saved_inputs[0]);
    const T* up = data_of<T>(arguments.saved_inputs[1]);
    T* dgate = data_of<T>(arguments.input_gradients[0]);
    T* dup = data_of<T>(arguments.input_gradients[1]);
    for_rows(arguments.saved_inputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().geglu_backward(form, dy + begin, gate + begin, up ? up + begin : nullptr, end - begin,
                                      dgate ? dgate + begin : nullptr, dup ? dup + begin : nullptr);
    });
  });
}

}  // namespace

extern const OperatorImplementation k_geglu_implementation{forward, backward};

}  // namespace shardlab
