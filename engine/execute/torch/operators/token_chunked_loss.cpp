// Workspace: the bias' gradient needs one float32 row a thread. The mean is summed in double, in order.
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>

#include "engine/execute/torch/operators/chunked_loss_parts.h"
#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/model/operators/chunked_loss_sizes.h"

namespace shardlab {
namespace {

// Turns logits into their gradient; returns the sum of the rows' losses.
double loss_of_part(const at::Tensor& logits, const std::int64_t* targets, float* log_sum_exp, double scale) {
  const std::int64_t rows = logits.size(0), classes = logits.size(1);
  double sum = 0;
  with_element_type(logits, [&](auto element) {
    using T = decltype(element);
    T* x = data_of<T>(logits);
    for_rows(rows, classes, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().log_sum_exp(x + begin * classes, end - begin, classes, log_sum_exp + begin);
    });
    for (std::int64_t row = 0; row < rows; ++row)
      sum += static_cast<double>(log_sum_exp[row]) -
             static_cast<double>(element_at(x + row * classes, targets[row]));
    for_rows(rows, classes, [&](std::int64_t begin, std::int64_t end) {
      T* part = x + begin * classes;
      row_kernels<T>().cross_entropy_backward(part, targets + begin, log_sum_exp + begin,
                                              static_cast<float>(scale), end - begin, classes, part);
    });
  });
  return sum;
}

void forward(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const at::Tensor x = matrix_of(arguments.inputs[0]);
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor dx = kept.find("hidden_gradient"), dweight = kept.find("weight_gradient"),
                   dbias = kept.find("bias_gradient");
  const std::int64_t rows = x.size(0), classes = weight.size(0);
  const std::int64_t extent = chunk_extent(rows, arguments.op.attributes.get(attribute::k_chunks));
  const auto* targets = data_of<std::int64_t>(arguments.inputs[1]);
  check_classes(targets, rows, classes);
  const at::Tensor memory = at::empty({extent, classes}, x.options());
  const at::Tensor sums = at::empty({extent}, x.options().dtype(at::kFloat));
  double sum = 0;
  for (std::int64_t begin = 0; begin < rows; begin += extent) {
    const std::int64_t count = std::min(extent, rows - begin);
    const at::Tensor part = x.narrow(0, begin, count), logits = memory.narrow(0, 0, count);
    part_of_logits(arguments.parameters, part, 0, classes, logits);
    sum += loss_of_part(logits, targets + begin, data_of<float>(sums), 1 / static_cast<double>(rows));
    if (dx.defined()) multiply_into(dx.narrow(0, begin, count), logits, weight, false);
    if (dweight.defined()) multiply_into(dweight, logits.t(), part, begin > 0);
    if (dbias.defined()) sum_into_bias(dbias, begin > 0, logits);
  }
  *data_of<float>(arguments.outputs[0]) = static_cast<float>(sum / static_cast<double>(rows));
}

void give_scaled(const ParameterGradient& to, const at::Tensor& gradient, double seed) {
  if (!to.gradient.defined()) return;
  if (to.accumulate) {
    to.gradient.add_(gradient, seed);
  } else {
    multiply(gradient, seed, to.gradient);
  }
}

void backward(const BackwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const at::Tensor& dx = arguments.input_gradients[0];
  if (dx.defined()) multiply(kept.find("hidden_gradient"), arguments.seed, matrix_of(dx));
  give_scaled(arguments.parameter_gradients[0], kept.find("weight_gradient"), arguments.seed);
  if (arguments.parameter_gradients.size() > 1)
    give_scaled(arguments.parameter_gradients[1], kept.find("bias_gradient"), arguments.seed);
}

}  // namespace

extern const OperatorImplementation k_token_chunked_loss_implementation{forward, backward};

}  // namespace shardlab
