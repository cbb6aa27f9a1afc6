// Helpers of operators that compute step by step with results of their own, as PyTorch does. Private to this
// folder.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>

#include <span>
#include <string_view>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

// What forward keeps, by the labels of the description; undefined where it keeps no such tensor.
class KeptExtras {
 public:
  template <typename Arguments>
  explicit KeptExtras(const Arguments& arguments)
      : listed_(arguments.op.type->describe(arguments.graph, arguments.op).extras),
        tensors_(arguments.extras) {}

  at::Tensor find(std::string_view label) const {
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      if (listed_[i].label == label) return tensors_[i];
    }
    return {};
  }
  // To write to: the kept tensor in this shape, or one of this operator's own.
  at::Tensor place(std::string_view label, at::IntArrayRef sizes, const at::TensorOptions& options) const {
    const at::Tensor kept = find(label);
    return kept.defined() ? kept.view(sizes) : at::empty(sizes, options);
  }

 private:
  std::vector<ExtraTensor> listed_;
  std::span<const at::Tensor> tensors_;
};

// Into a given tensor; the overloads of ATen that take a number and an output compute into another tensor
// first.
inline void multiply(const at::Tensor& x, double number, at::Tensor y) {
  at::mul_out(y, x, at::scalar_tensor(number));
}
inline void add_number(const at::Tensor& x, double number, at::Tensor y) {
  at::add_out(y, x, at::scalar_tensor(number));
}

// Stores the gradient of a parameter that an operator made, or adds it.
inline void give_gradient(const ParameterGradient& to, const at::Tensor& gradient) {
  if (to.accumulate) {
    to.gradient.add_(gradient);
  } else {
    to.gradient.copy_(gradient);
  }
}

}  // namespace shardlab
