// Matrix products by ATen on two-dimensional views. Workspace: none in float32; the bias' gradient needs one
// float32 row a thread.
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

at::Tensor as_matrix(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

// Stored as [in, out].
bool is_transposed(const Operator& op) {
  return op.attributes.integer("transposed") != 0;
}

void forward(const ForwardArguments& arguments) {
  const at::Tensor x = as_matrix(arguments.inputs[0]);
  at::Tensor y = as_matrix(arguments.outputs[0]);
  const at::Tensor& stored = arguments.parameters[0];
  const at::Tensor weight = is_transposed(arguments.op) ? stored : stored.t();
  if (arguments.parameters.size() > 1) {
    at::addmm_out(y, arguments.parameters[1], x, weight);
  } else {
    at::mm_out(y, x, weight);
  }
}

void add_bias_gradient(const ParameterGradient& bias, const at::Tensor& dy) {
  sum_rows_into(bias.gradient, bias.accumulate, dy.size(0),
                [&](std::int64_t begin, std::int64_t end, float* sums) {
                  with_element_type(dy, [&](auto element) {
                    using T = decltype(element);
                    const T* rows = data_of<T>(dy);
                    for (std::int64_t row = begin; row < end; ++row)
                      row_kernels<T>().add_row(rows + row * dy.size(1), dy.size(1), sums);
                  });
                });
}

void backward(const BackwardArguments& arguments) {
  const at::Tensor dy = as_matrix(arguments.output_gradients[0]);
  if (arguments.input_gradients[0].defined()) {
    at::Tensor dx = as_matrix(arguments.input_gradients[0]);
    const at::Tensor& weight = arguments.parameters[0];
    at::mm_out(dx, dy, is_transposed(arguments.op) ? weight.t() : weight);
  }
  if (arguments.parameter_gradients[0].gradient.defined()) {
    const at::Tensor x = as_matrix(arguments.saved_inputs[0]);
    const bool transposed = is_transposed(arguments.op);
    const at::Tensor left = transposed ? x.t() : dy.t();
    const at::Tensor& right = transposed ? dy : x;
    at::Tensor dw = arguments.parameter_gradients[0].gradient;
    if (arguments.parameter_gradients[0].accumulate) {
      at::addmm_out(dw, dw, left, right);
    } else {
      at::mm_out(dw, left, right);
    }
  }
  if (arguments.parameter_gradients.size() > 1 && arguments.parameter_gradients[1].gradient.defined()) {
    add_bias_gradient(arguments.parameter_gradients[1], dy);
  }
}

}  // namespace

extern const OperatorImplementation k_linear_implementation{"linear", forward, backward};

}  // namespace shardlab
