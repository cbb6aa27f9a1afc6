// apply_rotary_pos_emb of transformers 5.23 (modeling_llama.py) on heads [batch, sequence, heads, turned],
// and its gradient as autograd of torch 2.11 makes it: that of a slice is a tensor of zeros with the slice in
// it (FunctionsManual.cpp, slice_backward). Private to this folder.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/add.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/zeros_like.h>

namespace shardlab {

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
