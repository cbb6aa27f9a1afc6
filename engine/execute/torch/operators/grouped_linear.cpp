// One product of ATen for each expert that has rows. Workspace: none in float32.
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {
namespace {

// Calls function(expert, first row, rows).
template <typename F>
void for_experts(const at::Tensor& counts, F&& function) {
  const auto* rows = data_of<std::int64_t>(counts);
  std::int64_t first = 0;
  for (std::int64_t expert = 0; expert < counts.numel(); first += rows[expert++])
    function(expert, first, rows[expert]);
}

void forward(const ForwardArguments& arguments) {
  for_experts(arguments.inputs[1], [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    if (rows == 0) return;
    at::Tensor y = arguments.outputs[0].narrow(0, first, rows);
    at::mm_out(y, arguments.inputs[0].narrow(0, first, rows), arguments.parameters[0].select(0, expert).t());
  });
}

void add_weight_gradient(const ParameterGradient& weight, std::int64_t expert, const at::Tensor& dy,
                         const at::Tensor& x) {
  at::Tensor dw = weight.gradient.select(0, expert);
  if (dy.size(0) == 0) {
    if (!weight.accumulate) dw.zero_();
  } else if (weight.accumulate) {
    at::addmm_out(dw, dw, dy.t(), x);
  } else {
    at::mm_out(dw, dy.t(), x);
  }
}

void backward(const BackwardArguments& arguments) {
  const ParameterGradient& weight = arguments.parameter_gradients[0];
  for_experts(arguments.saved_inputs[1], [&](std::int64_t expert, std::int64_t first, std::int64_t rows) {
    const at::Tensor dy = arguments.output_gradients[0].narrow(0, first, rows);
    if (arguments.input_gradients[0].defined() && rows > 0) {
      at::Tensor dx = arguments.input_gradients[0].narrow(0, first, rows);
      at::mm_out(dx, dy, arguments.parameters[0].select(0, expert));
    }
    if (weight.gradient.defined())
      add_weight_gradient(weight, expert, dy, arguments.saved_inputs[0].narrow(0, first, rows));
  });
}

}  // namespace

extern const OperatorImplementation k_grouped_linear_implementation{forward, backward};

}  // namespace shardlab
