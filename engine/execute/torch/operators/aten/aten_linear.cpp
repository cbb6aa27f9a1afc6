// Products with a weight on any device.
#include <array>

#include <ATen/ops/_grouped_mm.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/sum.h>

#include "engine/execute/torch/operators/aten/aten_access.h"
#include "engine/execute/torch/operators/aten/device_operators.h"
#include "engine/execute/torch/operators/aten/memory_exchange.h"
#include "engine/execute/torch/operators/linear_products.h"

namespace shardlab {

// Workspace: one float32 row for the bias' gradient.

namespace {

void linear_backward(const BackwardArguments& arguments) {
  linear_gradients(arguments);
  if (arguments.parameter_gradients.size() < 2 || !arguments.parameter_gradients[1].gradient.defined())
    return;
  const at::Tensor dy = as_rows(arguments.output_gradients[0]);
  write(arguments.parameter_gradients[1], at::sum(dy, {0}, /*keepdim=*/false, at::kFloat));
}

}  // namespace

extern const OperatorImplementation k_device_linear{linear_forward, linear_backward};

// ATen's product of groups, which reads their sizes on the device. Its own kernel is for bfloat16 on GPUs of
// compute capability 9.0 and 10.0; elsewhere ATen falls back to a product for each expert and waits for the
// sizes, as is done here where rows are not aligned as it asks. Workspace: backward the products of the
// weight's gradient.

namespace {

constexpr std::int64_t k_alignment = 16;  // bytes, of rows and of the first element

bool is_aligned(const at::Tensor& tensor) {
  if (!tensor.defined()) return true;
  return tensor.size(-1) * tensor.element_size() % k_alignment == 0 &&
         reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % k_alignment == 0;
}

at::Tensor ends_of(const at::Tensor& counts) {
  return at::cumsum(counts, 0, at::kInt);
}

// The same with the sizes on the host: waits for the device.
std::array<at::Tensor, 2> with_host_counts(std::span<const at::Tensor> inputs) {
  return {inputs[0], inputs[1].cpu()};
}

void write_result(const at::Tensor& to, const at::Tensor& rows, const at::Tensor& weights,
                  const at::Tensor& ends) {
  if (to.is_cpu()) {
    to.copy_(at::_grouped_mm(rows, weights, ends));
    return;
  }
  MemoryExchange(to).take(at::_grouped_mm(rows, weights, ends));
}

void grouped_linear_forward(const ForwardArguments& arguments) {
  const at::Tensor &x = arguments.inputs[0], &weight = arguments.parameters[0], &y = arguments.outputs[0];
  const bool grouped =
      x.scalar_type() == at::kBFloat16 && is_aligned(x) && is_aligned(weight) && is_aligned(y);
  if (grouped) {
    write_result(y, x, weight.transpose(1, 2), ends_of(arguments.inputs[1]));
    return;
  }
  const auto inputs = with_host_counts(arguments.inputs);
  k_grouped_linear_implementation.forward(
      {arguments.op, arguments.graph, inputs, arguments.parameters, arguments.outputs, arguments.extras});
}

void grouped_linear_backward(const BackwardArguments& arguments) {
  const at::Tensor &dy = arguments.output_gradients[0], &x = arguments.saved_inputs[0];
  const at::Tensor &weight = arguments.parameters[0], &dx = arguments.input_gradients[0];
  const bool grouped =
      dy.scalar_type() == at::kBFloat16 && is_aligned(dy) && is_aligned(weight) && is_aligned(x);
  if (!grouped) {
    const auto saved = with_host_counts(arguments.saved_inputs);
    k_grouped_linear_implementation.backward({arguments.op, arguments.graph, arguments.output_gradients,
                                              arguments.seed, saved, arguments.saved_outputs,
                                              arguments.parameters, arguments.extras,
                                              arguments.input_gradients, arguments.parameter_gradients});
    return;
  }
  const at::Tensor ends = ends_of(arguments.saved_inputs[1]);
  if (dx.defined()) write_result(dx, dy, weight, ends);
  const ParameterGradient& wanted = arguments.parameter_gradients[0];
  if (wanted.gradient.defined()) write(wanted, at::_grouped_mm(dy.t(), x, ends));
}

}  // namespace

extern const OperatorImplementation k_device_grouped_linear{grouped_linear_forward, grouped_linear_backward};

}  // namespace shardlab
