// What routers add to the loss.
#include <cmath>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

// Workspace: none. Sums in double.

namespace {

// What the sum over experts of assignments times probabilities is multiplied by.
double factor_of(const Operator& op, std::int64_t experts) {
  const auto rows = static_cast<double>(op.attributes.get(attribute::k_rows));
  return op.attributes.get(attribute::k_weight) * static_cast<double>(experts) / (rows * rows);
}

void router_loss_forward(const ForwardArguments& arguments) {
  const std::int64_t experts = width_of(arguments.inputs[1]);
  const float* sums = data_of<float>(arguments.inputs[1]);
  double sum = 0;
  for (std::int64_t e = 0; e < experts; ++e)
    sum += static_cast<double>(sums[e]) * static_cast<double>(sums[experts + e]);
  *data_of<float>(arguments.outputs[0]) = static_cast<float>(
      static_cast<double>(*data_of<float>(arguments.inputs[0])) + factor_of(arguments.op, experts) * sum);
}

// What the assignments would have is zero: they are counted, not computed.
void router_loss_backward(const BackwardArguments& arguments) {
  const at::Tensor& gradient = arguments.input_gradients[1];
  if (!gradient.defined()) return;
  const std::int64_t experts = width_of(gradient);
  const float* sums = data_of<float>(arguments.saved_inputs[1]);
  float* out = data_of<float>(gradient);
  const double factor = arguments.seed * factor_of(arguments.op, experts);
  std::fill_n(out, experts, 0.0f);
  for (std::int64_t e = 0; e < experts; ++e)
    out[experts + e] = static_cast<float>(factor * static_cast<double>(sums[e]));
}

}  // namespace

extern const OperatorImplementation k_router_loss_implementation{router_loss_forward, router_loss_backward};

// Workspace: sums in double, in order of the rows whatever the number of threads, and one float32 row.

namespace {

// exp(logits - log_sum_exp)
template <typename T>
void probabilities_of(const T* logits, std::int64_t experts, float log_sum_exp, float* row) {
  std::fill_n(row, experts, 0.0f);
  row_kernels<T>().add_row(logits, experts, row);
  for (std::int64_t e = 0; e < experts; ++e) row[e] = std::exp(row[e] - log_sum_exp);
}

void count(const at::Tensor& chosen, double* assignments) {
  const auto* experts = data_of<std::int64_t>(chosen);
  for (std::int64_t i = 0; i < chosen.numel(); ++i) assignments[experts[i]] += 1;
}

void router_sums_forward(const ForwardArguments& arguments) {
  const at::Tensor& logits = arguments.inputs[0];
  const std::int64_t rows = rows_of(logits), experts = width_of(logits);
  const at::Tensor wide = at::empty({2, experts}, at::TensorOptions(at::kDouble));
  const at::Tensor row = at::empty({experts}, at::TensorOptions(at::kFloat));
  auto* sums = static_cast<double*>(wide.data_ptr());
  std::fill_n(sums, 2 * experts, 0.0);
  count(arguments.inputs[1], sums);
  float* log_sum_exp = arguments.extras.empty() ? nullptr : data_of<float>(arguments.extras[0]);
  with_element_type(logits, [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(logits);
    for (std::int64_t i = 0; i < rows; ++i) {
      float whole = 0;
      row_kernels<T>().log_sum_exp(x + i * experts, 1, experts, &whole);
      if (log_sum_exp != nullptr) log_sum_exp[i] = whole;
      probabilities_of(x + i * experts, experts, whole, data_of<float>(row));
      for (std::int64_t e = 0; e < experts; ++e)
        sums[experts + e] += static_cast<double>(data_of<float>(row)[e]);
    }
  });
  const float* before = arguments.inputs.size() > 2 ? data_of<float>(arguments.inputs[2]) : nullptr;
  float* out = data_of<float>(arguments.outputs[0]);
  for (std::int64_t i = 0; i < 2 * experts; ++i)
    out[i] = static_cast<float>(sums[i] + (before != nullptr ? static_cast<double>(before[i]) : 0));
}

// d logit = p * (g - sum of p * g), where g are the gradients of the sums of probabilities.
void router_sums_backward(const BackwardArguments& arguments) {
  const at::Tensor& gradient = arguments.input_gradients[0];
  if (!gradient.defined()) return;
  const at::Tensor& logits = arguments.saved_inputs[0];
  const std::int64_t rows = rows_of(logits), experts = width_of(logits);
  const float* g = data_of<float>(arguments.output_gradients[0]) + experts;
  const auto* log_sum_exp = data_of<float>(arguments.extras[0]);
  const at::Tensor scratch = at::empty({experts}, at::TensorOptions(at::kFloat));
  float* p = data_of<float>(scratch);
  with_element_type(logits, [&](auto element) {
    using T = decltype(element);
    const T* x = data_of<T>(logits);
    T* dx = data_of<T>(gradient);
    for (std::int64_t i = 0; i < rows; ++i) {
      probabilities_of(x + i * experts, experts, log_sum_exp[i], p);
      double mean = 0;
      for (std::int64_t e = 0; e < experts; ++e)
        mean += static_cast<double>(p[e]) * static_cast<double>(g[e]);
      for (std::int64_t e = 0; e < experts; ++e)
        p[e] = static_cast<float>(static_cast<double>(p[e]) * (static_cast<double>(g[e]) - mean));
      row_kernels<T>().store_row(p, false, experts, dx + i * experts);
    }
  });
}

}  // namespace

extern const OperatorImplementation k_router_sums_implementation{router_sums_forward, router_sums_backward};

}  // namespace shardlab
