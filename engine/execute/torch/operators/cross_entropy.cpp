// The loss of next tokens, fused and step by step.
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/nll_loss_forward.h>
#include <ATen/ops/scalar_tensor.h>

#include "engine/execute/torch/operators/eager_parts.h"
#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"
#include "engine/execute/torch/torch_dtype.h"

namespace shardlab {

// Workspace: none. The mean is summed in double, in order, whatever the number of threads.

namespace {

template <typename T>
float value_at(const T* row, std::int64_t column) {
  if constexpr (sizeof(T) == sizeof(float)) return row[column];
  float value = 0;
  row_kernels<T>().add_row(row + column, 1, &value);
  return value;
}

void check_targets(const std::int64_t* targets, std::int64_t rows, std::int64_t classes) {
  for (std::int64_t row = 0; row < rows; ++row) {
    TORCH_CHECK_INDEX(targets[row] >= 0 && targets[row] < classes, "target ", targets[row], " of row ", row,
                      " is not below ", classes, ", the number of classes");
  }
}

void cross_entropy_forward(const ForwardArguments& arguments) {
  const at::Tensor& logits = arguments.inputs[0];
  const std::int64_t rows = rows_of(logits), classes = width_of(logits);
  const auto* targets = data_of<std::int64_t>(arguments.inputs[1]);
  auto* log_sum_exp = data_of<float>(arguments.extras[0]);
  check_targets(targets, rows, classes);
  with_element_type(logits, [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(logits);
    for_rows(rows, classes, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().log_sum_exp(x + begin * classes, end - begin, classes, log_sum_exp + begin);
    });
    double sum = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      sum += static_cast<double>(log_sum_exp[row]) -
             static_cast<double>(value_at(x + row * classes, targets[row]));
    }
    *data_of<float>(arguments.outputs[0]) = static_cast<float>(sum / static_cast<double>(rows));
  });
}

void cross_entropy_backward(const BackwardArguments& arguments) {
  const at::Tensor& logits = arguments.saved_inputs[0];
  const at::Tensor& gradient = arguments.input_gradients[0];
  if (!gradient.defined()) return;
  const std::int64_t rows = rows_of(logits), classes = width_of(logits);
  const auto* targets = data_of<std::int64_t>(arguments.saved_inputs[1]);
  const auto* log_sum_exp = data_of<float>(arguments.extras[0]);
  const auto scale = static_cast<float>(arguments.seed / static_cast<double>(rows));
  with_element_type(logits, [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(logits);
    T* dx = data_of<T>(gradient);
    for_rows(rows, classes, [&](std::int64_t begin, std::int64_t end) {
      row_kernels<T>().cross_entropy_backward(x + begin * classes, targets + begin, log_sum_exp + begin,
                                              scale, end - begin, classes, dx + begin * classes);
    });
  });
}

}  // namespace

extern const OperatorImplementation k_cross_entropy_implementation{cross_entropy_forward,
                                                                   cross_entropy_backward};
extern const OperatorImplementation k_compiled_cross_entropy_implementation{cross_entropy_forward,
                                                                            cross_entropy_backward};

// log_softmax and nll_loss of torch, on logits in float32, or as they are; the loss is float32 either way.

namespace {

constexpr std::int64_t k_mean = 1;        // at::Reduction::Mean
constexpr std::int64_t k_ignored = -100;  // targets that do not count

at::Tensor as_rows(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

void eager_cross_entropy_forward(const ForwardArguments& arguments) {
  const KeptExtras kept(arguments);
  at::Tensor logarithms = kept.find("log_probabilities"), weight = kept.find("total_weight").select(0, 0);
  const at::Tensor targets = arguments.inputs[1].view(-1);
  at::Tensor loss = arguments.outputs[0];
  const bool narrow = logarithms.scalar_type() != loss.scalar_type();
  if (narrow) loss = at::empty({}, logarithms.options());
  at::_log_softmax_out(logarithms, as_rows(arguments.inputs[0]).to(logarithms.scalar_type()), 1, false);
  at::nll_loss_forward_out(loss, weight, logarithms, targets, {}, k_mean, k_ignored);
  if (narrow) arguments.outputs[0].copy_(loss);
}

void eager_cross_entropy_backward(const BackwardArguments& arguments) {
  if (!arguments.wants(0)) return;
  const KeptExtras kept(arguments);
  const at::Tensor logarithms = kept.find("log_probabilities"),
                   weight = kept.find("total_weight").select(0, 0);
  const at::Tensor targets = arguments.saved_inputs[1].view(-1);
  const at::Tensor seed = at::scalar_tensor(arguments.seed, logarithms.options());
  at::Tensor of_logarithms = at::nll_loss_backward(seed, logarithms, targets, {}, k_mean, k_ignored, weight);
  const at::ScalarType computed = logarithms.scalar_type();
  if (to_torch(arguments.graph.tensor(arguments.op.inputs[0]).dtype) == computed) {
    at::Tensor dx = as_rows(arguments.input_gradient(0));
    at::_log_softmax_backward_data_out(dx, of_logarithms, logarithms, 1, computed);
    return;
  }
  const at::Tensor wide = at::_log_softmax_backward_data(of_logarithms, logarithms, 1, computed);
  of_logarithms.reset();
  as_rows(arguments.input_gradient(0)).copy_(wide);
}

}  // namespace

extern const OperatorImplementation k_eager_cross_entropy_implementation{eager_cross_entropy_forward,
                                                                         eager_cross_entropy_backward};

}  // namespace shardlab
