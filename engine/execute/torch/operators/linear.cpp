// Matrix products by ATen. Workspace: none in float32; the bias' gradient needs one float32 row a thread.
#include "engine/execute/torch/operators/linear_products.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

void add_bias_gradient(const ParameterGradient& bias, const at::Tensor& dy) {
  const std::int64_t width = width_of(dy);
  sum_rows_into(bias.gradient, bias.accumulate, rows_of(dy),
                [&](std::int64_t begin, std::int64_t end, float* sums) {
                  with_element_type(dy, [&](auto element) {
                    using T = decltype(element);
                    const T* rows = data_of<T>(dy);
                    for (std::int64_t row = begin; row < end; ++row)
                      row_kernels<T>().add_row(rows + row * width, width, sums);
                  });
                });
}

void backward(const BackwardArguments& arguments) {
  linear_gradients(arguments);
  if (arguments.parameter_gradients.size() > 1 && arguments.parameter_gradients[1].gradient.defined())
    add_bias_gradient(arguments.parameter_gradients[1], arguments.output_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_linear_implementation{linear_forward, backward};

}  // namespace shardlab
