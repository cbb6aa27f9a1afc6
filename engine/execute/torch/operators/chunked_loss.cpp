// Losses that never hold all logits: over parts of the tokens, or of the vocabulary.
#include <cmath>
#include <limits>

#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>

#include "engine/execute/torch/operators/chunked_loss.h"
#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/model/operators/losses.h"

namespace shardlab {

// Workspace: the bias' gradient needs one float32 row a thread. The mean is summed in double, in order.

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

void token_chunked_loss_forward(const ForwardArguments& arguments) {
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

void token_chunked_loss_backward(const BackwardArguments& arguments) {
  const KeptExtras kept(arguments);
  const at::Tensor& dx = arguments.input_gradients[0];
  if (dx.defined()) multiply(kept.find("hidden_gradient"), arguments.seed, matrix_of(dx));
  give_scaled(arguments.parameter_gradients[0], kept.find("weight_gradient"), arguments.seed);
  if (arguments.parameter_gradients.size() > 1)
    give_scaled(arguments.parameter_gradients[1], kept.find("bias_gradient"), arguments.seed);
}

}  // namespace

extern const OperatorImplementation k_token_chunked_loss_implementation{token_chunked_loss_forward,
                                                                        token_chunked_loss_backward};

// Workspace: the bias' gradient needs one float32 row a thread. The mean is summed in double, in order.

namespace {

// Adds a part of the vocabulary, columns [first, first + width) of the logits, to what earlier parts left.
template <typename T>
void add_part(const T* x, std::int64_t rows, std::int64_t first, std::int64_t width,
              const std::int64_t* targets, const float* of_part, float* log_sum_exp, float* of_target) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float high = std::max(log_sum_exp[row], of_part[row]),
                low = std::min(log_sum_exp[row], of_part[row]);
    log_sum_exp[row] = first == 0 ? of_part[row] : high + std::log1p(std::exp(low - high));
    const std::int64_t column = targets[row] - first;
    if (column >= 0 && column < width) of_target[row] = element_at(x + row * width, column);
  }
}

void vocabulary_chunked_loss_forward(const ForwardArguments& arguments) {
  const at::Tensor x = matrix_of(arguments.inputs[0]);
  const std::int64_t rows = x.size(0), classes = arguments.parameters[0].size(0);
  const std::int64_t extent = chunk_extent(classes, arguments.op.attributes.get(attribute::k_chunks));
  const auto* targets = data_of<std::int64_t>(arguments.inputs[1]);
  auto* log_sum_exp = data_of<float>(arguments.extras[0]);
  check_classes(targets, rows, classes);
  const at::Tensor memory = at::empty({rows * extent}, x.options());
  const at::Tensor scratch = at::empty({2, rows}, x.options().dtype(at::kFloat));
  auto* of_part = data_of<float>(scratch);
  auto* of_target = of_part + rows;
  for (std::int64_t first = 0; first < classes; first += extent) {
    const std::int64_t width = std::min(extent, classes - first);
    const at::Tensor logits = memory.narrow(0, 0, rows * width).view({rows, width});
    part_of_logits(arguments.parameters, x, first, width, logits);
    with_element_type(logits, [&](auto element) {
      using T = decltype(element);
      const T* values = data_of<T>(logits);
      for_rows(rows, width, [&](std::int64_t begin, std::int64_t end) {
        row_kernels<T>().log_sum_exp(values + begin * width, end - begin, width, of_part + begin);
      });
      add_part(values, rows, first, width, targets, of_part, log_sum_exp, of_target);
    });
  }
  double sum = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    sum += static_cast<double>(log_sum_exp[row]) - static_cast<double>(of_target[row]);
  *data_of<float>(arguments.outputs[0]) = static_cast<float>(sum / static_cast<double>(rows));
}

// One row of logits to their gradient. The kernel takes one off at a target; where that lies in another part,
// its column 0 is mended.
template <typename T>
void row_backward(T* x, std::int64_t column, std::int64_t width, float log_sum_exp, float scale) {
  const bool here = column >= 0 && column < width;
  const std::int64_t target = here ? column : 0;
  const float first = std::exp(element_at(x, 0) - log_sum_exp) * scale;
  row_kernels<T>().cross_entropy_backward(x, &target, &log_sum_exp, scale, 1, width, x);
  if (!here) row_kernels<T>().store_row(&first, false, 1, x);
}

void logits_backward(const at::Tensor& logits, const std::int64_t* targets, std::int64_t first,
                     const float* log_sum_exp, float scale) {
  const std::int64_t width = logits.size(1);
  with_element_type(logits, [&](auto element) {
    using T = decltype(element);
    T* x = data_of<T>(logits);
    for_rows(logits.size(0), width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        row_backward(x + row * width, targets[row] - first, width, log_sum_exp[row], scale);
    });
  });
}

void vocabulary_chunked_loss_backward(const BackwardArguments& arguments) {
  const at::Tensor x = matrix_of(arguments.saved_inputs[0]);
  const at::Tensor& weight = arguments.parameters[0];
  const at::Tensor& dx = arguments.input_gradients[0];
  const std::int64_t rows = x.size(0), classes = weight.size(0);
  const std::int64_t extent = chunk_extent(classes, arguments.op.attributes.get(attribute::k_chunks));
  const auto scale = static_cast<float>(arguments.seed / static_cast<double>(rows));
  const auto gradient = [&](std::size_t i) {
    return i < arguments.parameter_gradients.size() ? arguments.parameter_gradients[i] : ParameterGradient{};
  };
  const ParameterGradient dweight = gradient(0), dbias = gradient(1);
  const at::Tensor memory = at::empty({rows * extent}, x.options());
  for (std::int64_t first = 0; first < classes; first += extent) {
    const std::int64_t width = std::min(extent, classes - first);
    const at::Tensor logits = memory.narrow(0, 0, rows * width).view({rows, width});
    part_of_logits(arguments.parameters, x, first, width, logits);
    logits_backward(logits, data_of<std::int64_t>(arguments.saved_inputs[1]), first,
                    data_of<float>(arguments.extras[0]), scale);
    if (dx.defined()) multiply_into(matrix_of(dx), logits, weight.narrow(0, first, width), first > 0);
    if (dweight.gradient.defined())
      multiply_into(dweight.gradient.narrow(0, first, width), logits.t(), x, dweight.accumulate);
    if (dbias.gradient.defined())
      sum_into_bias(dbias.gradient.narrow(0, first, width), dbias.accumulate, logits);
  }
}

}  // namespace

extern const OperatorImplementation k_vocabulary_chunked_loss_implementation{
    vocabulary_chunked_loss_forward, vocabulary_chunked_loss_backward};

}  // namespace shardlab
