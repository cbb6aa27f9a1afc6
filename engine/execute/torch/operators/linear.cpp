// Matrix products with a weight, by ATen.
#include "engine/execute/torch/operators/linear_products.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/products.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

// Matrix products by ATen. Workspace: none in float32; the bias' gradient needs one float32 row a thread.

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

void linear_backward(const BackwardArguments& arguments) {
  linear_gradients(arguments);
  if (arguments.parameter_gradients.size() > 1 && arguments.parameter_gradients[1].gradient.defined())
    add_bias_gradient(arguments.parameter_gradients[1], arguments.output_gradients[0]);
}

}  // namespace

extern const OperatorImplementation k_linear_implementation{linear_forward, linear_backward};

// Matrix products by ATen on two-dimensional views, scaled and added by the product itself.

namespace {

double scale_of(const Operator& op) {
  return op.attributes.get(attribute::k_scale);
}

void linear_add_forward(const ForwardArguments& arguments) {
  add_product(as_matrix(arguments.outputs[0]), as_matrix(arguments.inputs[0]), as_matrix(arguments.inputs[1]),
              arguments.parameters[0].t(), {.product = scale_of(arguments.op)});
}

// A factor of 0 for what is there means that it is not read.
void linear_add_backward(const BackwardArguments& arguments) {
  const at::Tensor dy = as_matrix(arguments.output_gradients[0]);
  const double scale = scale_of(arguments.op);
  if (arguments.input_gradients[1].defined()) {
    const at::Tensor dx = as_matrix(arguments.input_gradients[1]);
    add_product(dx, dx, dy, arguments.parameters[0], {.addend = 0, .product = scale});
  }
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  if (!weight.gradient.defined()) return;
  const at::Tensor& dw = weight.gradient;
  add_product(dw, dw, dy.t(), as_matrix(arguments.saved_inputs[1]),
              {.addend = weight.accumulate ? 1.0 : 0.0, .product = scale});
}

}  // namespace

extern const OperatorImplementation k_linear_add_implementation{linear_add_forward, linear_add_backward};

// One product of ATen for each expert that has rows. Workspace: none in float32.

namespace {

// Calls function(expert, first row, rows).
template <typename F>
void for_experts(const at::Tensor& counts, F&& function) {
  const auto* rows = data_of<std::int64_t>(counts);
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < counts.numel(); first += rows[expert++])
    function(expert, first, rows[expert]);
}

void grouped_linear_forward(const ForwardArguments& arguments) {
  for_experts(arguments.inputs[1], [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    if (rows == 0) return;
    product(arguments.outputs[0].narrow(0, first, rows), arguments.inputs[0].narrow(0, first, rows),
            arguments.parameters[0].select(0, expert).t());
  });
}

void add_weight_gradient(const ParameterGradient& weight, std::int64_t expert, const at::Tensor& dy,
                         const at::Tensor& x) {
  at::Tensor dw = weight.gradient.select(0, expert);
  if (dy.size(0) == 0) {
    if (!weight.accumulate) dw.zero_();
  } else if (weight.accumulate) {
    add_product(dw, dw, dy.t(), x);
  } else {
    product(dw, dy.t(), x);
  }
}

void grouped_linear_backward(const BackwardArguments& arguments) {
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  for_experts(arguments.saved_inputs[1], [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    const at::Tensor dy = arguments.output_gradients[0].narrow(0, first, rows);
    if (arguments.input_gradients[0].defined() && rows > 0) {
      product(arguments.input_gradients[0].narrow(0, first, rows), dy,
              arguments.parameters[0].select(0, expert));
    }
    if (weight.gradient.defined())
      add_weight_gradient(weight, expert, dy, arguments.saved_inputs[0].narrow(0, first, rows));
  });
}

}  // namespace

extern const OperatorImplementation k_grouped_linear_implementation{grouped_linear_forward,
                                                                    grouped_linear_backward};

}  // namespace shardlab
