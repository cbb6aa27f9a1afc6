// Helpers of operators that compute step by step with results of their own, as PyTorch does. Private to this
// folder.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/zeros_like.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/model/operators/operator_type.h"

namespace shardlab {

// What forward keeps, by the labels of the description; undefined where it keeps no such tensor.
class KeptExtras {
 public:
  template <typename Arguments>
  explicit KeptExtras(const Arguments& arguments)
      : listed_(arguments.op.type->describe(arguments.graph, arguments.op).extras),
        tensors_(arguments.extras) {
    if constexpr (requires { arguments.give_extra; }) give_ = &arguments.give_extra;
  }

  at::Tensor find(std::string_view label) const {
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      if (listed_[i].label == label) return tensors_[i];
    }
    return {};
  }
  // In backward, where it is read no more and forward kept it.
  void give(std::string_view label) const {
    for (std::size_t i = 0; i < listed_.size(); ++i) {
      if (listed_[i].label == label && give_ != nullptr && *give_) (*give_)(i);
    }
  }
  // To write to: the kept tensor in this shape, or one of this operator's own.
  at::Tensor place(std::string_view label, at::IntArrayRef sizes, const at::TensorOptions& options) const {
    const at::Tensor kept = find(label);
    return kept.defined() ? kept.view(sizes) : at::empty(sizes, options);
  }

 private:
  std::vector<ExtraTensor> listed_;
  std::span<const at::Tensor> tensors_;
  const std::function<void(std::size_t)>* give_ = nullptr;
};

// Into a given tensor; the overloads of ATen that take a number and an output compute into another tensor
// first.
inline void multiply(const at::Tensor& x, double number, at::Tensor y) {
  at::mul_out(y, x, at::scalar_tensor(number));
}
inline void divide(const at::Tensor& x, double number, at::Tensor y) {
  at::div_out(y, x, at::scalar_tensor(number));
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

// From the gradient of probabilities to that of what softmax was of, in `dtype`. A device's kernel first
// multiplies gradient and probabilities into a tensor of its own (SoftMax.cu of torch 2.11,
// softmax_backward_cuda_out), a processor's does not: its steps are here, with the same tensors.
inline at::Tensor softmax_backward(at::Tensor gradient, const at::Tensor& probabilities,
                                   at::ScalarType dtype) {
  if (!gradient.is_cpu()) return at::_softmax_backward_data(gradient, probabilities, -1, dtype);
  const at::Tensor result = at::empty(gradient.sizes(), gradient.options().dtype(dtype));
  at::Tensor product = at::mul(gradient, probabilities);
  std::vector<std::int64_t> one_a_row = gradient.sizes().vec();
  one_a_row.back() = 1;
  const std::int64_t rows = gradient.numel() / gradient.size(-1);
  at::Tensor sums = gradient.flatten().narrow(0, 0, rows).view(one_a_row);  // the gradient is of no more use
  at::sum_out(sums, product, {-1}, true);
  product.addcmul_(probabilities, sums, -1);
  result.copy_(product);
  return result;
}

// apply_rotary_pos_emb of transformers 5.23 (modeling_llama.py) on heads [batch, sequence, heads, turned],
// and its gradient as autograd of torch 2.11 makes it: that of a slice is a tensor of zeros with the slice in
// it (FunctionsManual.cpp, slice_backward).
struct TurnTable {
  at::Tensor cosine, sine;  // [positions, 1, turned]
  std::int64_t turned;

  // `table` as rope's constant, for as many positions as `x` has.
  TurnTable(const at::Tensor& table, const at::Tensor& x) : turned(table.size(2)) {
    TORCH_CHECK(x.size(1) <= table.size(1), "the rotary table has ", table.size(1),
                " positions, the sequence ", x.size(1));
    cosine = table.select(0, 0).narrow(0, 0, x.size(1)).unsqueeze(1);
    sine = table.select(0, 1).narrow(0, 0, x.size(1)).unsqueeze(1);
  }
};

inline at::Tensor rotate_half(const at::Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  return at::cat({at::neg(x.narrow(-1, half, half)), x.narrow(-1, 0, half)}, -1);
}

inline void turn_into(const at::Tensor& x, const TurnTable& table, at::Tensor y) {
  const at::Tensor straight = at::mul(x, table.cosine), crossed = at::mul(rotate_half(x), table.sine);
  at::add_out(y, straight, crossed);
}

inline void turn_back_into(const at::Tensor& dy, const TurnTable& table, at::Tensor dx) {
  const std::int64_t half = table.turned / 2;
  {
    at::Tensor rotated = at::mul(dy, table.sine);
    {
      const at::Tensor second = at::neg(rotated.narrow(-1, 0, half));
      dx.zero_();
      dx.narrow(-1, half, half).copy_(second);
    }
    const at::Tensor first = at::zeros_like(dx);
    first.narrow(-1, 0, half).copy_(rotated.narrow(-1, half, half));
    rotated.reset();
    dx.add_(first);
  }
  dx.add_(at::mul(dy, table.cosine));
}

}  // namespace shardlab
