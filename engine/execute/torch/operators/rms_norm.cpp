// Workspace: backward sums the weight's gradient in one float32 row a thread.
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

void forward(const ForwardArguments& arguments) {
  const at::Tensor& x = arguments.inputs[0];
  const std::int64_t width = width_of(x);
  const auto epsilon = static_cast<float>(arguments.op.attributes.number("epsilon"));
  auto* reciprocal = data_of<float>(arguments.extras[0]);
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    for_rows(rows_of(x), width, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().rms_norm_forward(data_of<T>(x) + begin * width, data_of<T>(arguments.parameters[0]),
                                        epsilon, end - begin, width,
                                        data_of<T>(arguments.outputs[0]) + begin * width, reciprocal + begin);
    });
  });
}

template <typename T>
void backward_rows(const BackwardArguments& arguments, std::int64_t begin, std::int64_t end, float* dw) {
  const at::Tensor& x = arguments.saved_inputs[0];
  const std::int64_t offset = begin * width_of(x);
  T* dx = data_of<T>(arguments.input_gradients[0]);
  row_kernels<T>().rms_norm_backward(data_of<T>(arguments.output_gradients[0]) + offset,
                                     data_of<T>(x) + offset, data_of<T>(arguments.parameters[0]),
                                     data_of<float>(arguments.extras[0]) + begin, end - begin, width_of(x),
                                     dx ? dx + offset : nullptr, dw);
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor& x = arguments.saved_inputs[0];
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  with_element_type(x, [&](auto element) {
    using T = decltype(element);
    if (weight.gradient.defined()) {
      sum_rows_into(weight.gradient, weight.accumulate, rows_of(x),
                    [&](std::int64_t begin, std::int64_t end, float* sums) {
                      backward_rows<T>(arguments, begin, end, sums);
                    });
    } else {
      for_rows(rows_of(x), width_of(x), [&](std::int64_t begin, std::int64_t end) {
        backward_rows<T>(arguments, begin, end, nullptr);
      });
    }
  });
}

}  // namespace

extern const OperatorImplementation k_rms_norm_implementation{"rms_norm", forward, backward};

}  // namespace shardlab
