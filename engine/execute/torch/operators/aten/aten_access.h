// Helpers of the operators written with ATen: arithmetic in float32 whatever the element type, a piece at a
// time, so that its temporaries stay small beside the tensors. Private to execute/torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/narrow.h>

#include <algorithm>
#include <cstdint>

#include "engine/execute/torch/operators/operator_implementation.h"

namespace shardlab {

// As rows of the last dimension. Undefined stays undefined.
inline at::Tensor as_rows(const at::Tensor& tensor, std::int64_t width) {
  return tensor.defined() ? tensor.view({tensor.numel() / width, width}) : tensor;
}
inline at::Tensor as_rows(const at::Tensor& tensor) {
  return tensor.defined() ? as_rows(tensor, tensor.size(-1)) : tensor;
}

// The tensor itself when it is float32 already.
inline at::Tensor in_float(const at::Tensor& tensor) {
  return tensor.to(at::kFloat);
}

// For operators whose CUDA kernels of ATen compute in float32 whatever the element type, while its CPU
// kernels round in between, or keep statistics in the element type.
inline at::Tensor widened_on_host(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_cpu() ? in_float(tensor) : tensor;
}

// Rounded once, at the end.
inline void write(const ParameterGradient& to, const at::Tensor& value) {
  if (to.accumulate) {
    to.gradient.add_(value);
  } else {
    to.gradient.copy_(value);
  }
}

// Elements of a piece: 64 MiB in float32. Launches of fewer elements cost more than they save.
inline constexpr std::int64_t k_elements_of_piece = std::int64_t{1} << 24;

// Calls function(first, count) for pieces of [0, rows) whose rows have `width` elements.
template <typename F>
void in_pieces(std::int64_t rows, std::int64_t width, F&& function) {
  const std::int64_t most = std::max<std::int64_t>(1, k_elements_of_piece / std::max<std::int64_t>(1, width));
  for (std::int64_t first = 0; first < rows; first += most) function(first, std::min(most, rows - first));
}

// A piece of a tensor that may be undefined.
inline at::Tensor rows_from(const at::Tensor& tensor, std::int64_t first, std::int64_t count) {
  return tensor.defined() ? tensor.narrow(0, first, count) : tensor;
}

}  // namespace shardlab
