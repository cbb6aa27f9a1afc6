// Workspace: none.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

// Gate and up of a row: in two tensors, or one behind the other in one. Rows are as wide as y's.
template <typename T>
struct GateAndUp {
  T *gate, *up;
  std::int64_t stride;

  GateAndUp(std::span<const at::Tensor> tensors, std::int64_t width) {
    gate = data_of<T>(tensors[0]);
    const bool packed = tensors.size() == 1;
    up = !packed ? data_of<T>(tensors[1]) : gate ? gate + width : nullptr;
    stride = packed ? 2 * width : width;
  }
};

void forward(const ForwardArguments& arguments) {
  const at::Tensor& y = arguments.outputs[0];
  with_element_type(y, [&](auto element) {
    using T = decltype(element);
    const std::int64_t width = width_of(y);
    const GateAndUp<T> in(arguments.inputs, width);
    for_rows(rows_of(y), width, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t rows = arguments.inputs.size() == 1 ? 1 : end - begin;
      for (std::int64_t row = begin; row < end; row += rows) {
        row_kernels<T>().swiglu_forward(in.gate + row * in.stride, in.up + row * in.stride, rows * width,
                                        data_of<T>(y) + row * width);
      }
    });
  });
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor& dy = arguments.output_gradients[0];
  with_element_type(dy, [&](auto element) {
    using T = decltype(element);
    const std::int64_t width = width_of(dy);
    const GateAndUp<T> in(arguments.saved_inputs, width), gradient(arguments.input_gradients, width);
    for_rows(rows_of(dy), width, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t rows = arguments.saved_inputs.size() == 1 ? 1 : end - begin;
      for (std::int64_t row = begin; row < end; row += rows) {
        const std::int64_t at = row * in.stride;
        row_kernels<T>().swiglu_backward(
            data_of<T>(dy) + row * width, in.gate + at, in.up ? in.up + at : nullptr, rows * width,
            gradient.gate ? gradient.gate + at : nullptr, gradient.up ? gradient.up + at : nullptr);
      }
    });
  });
}

}  // namespace

extern const OperatorImplementation k_swiglu_implementation{forward, backward};

}  // namespace shardlab
