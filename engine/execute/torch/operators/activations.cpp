// Activations of one input, and gates of two halves. Workspace: none.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

// Workspace: none.

namespace {

void gelu_forward(const ForwardArguments& arguments) {
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

void gelu_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_gelu_implementation{gelu_forward, gelu_backward};

// Workspace: none.

namespace {

void geglu_forward(const ForwardArguments& arguments) {
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

void geglu_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_geglu_implementation{geglu_forward, geglu_backward};

// Workspace: none.

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

void swiglu_forward(const ForwardArguments& arguments) {
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

void swiglu_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_swiglu_implementation{swiglu_forward, swiglu_backward};

// Workspace: none.

namespace {

float cap_of(const Operator& op) {
  return static_cast<float>(op.attributes.get(attribute::k_cap));
}

void soft_cap_forward(const ForwardArguments& arguments) {
  with_element_type(arguments.inputs[0], [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(arguments.inputs[0]);
    T* y = data_of<T>(arguments.outputs[0]);
    for_rows(arguments.inputs[0].numel(), 1, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().soft_cap_forward(cap_of(arguments.op), x + begin, end - begin, y + begin);
    });
  });
}

void soft_cap_backward(const BackwardArguments& arguments) {
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

extern const OperatorImplementation k_soft_cap_implementation{soft_cap_forward, soft_cap_backward};

}  // namespace shardlab
