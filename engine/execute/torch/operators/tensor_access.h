// From tensors to the raw pointers that row kernels take, and from a loop over rows to threads. Private to
// this folder.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/execute/torch/kernels/row_kernels.h"

namespace shardlab {

// The first element; null for an undefined tensor.
template <typename T>
T* data_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return nullptr;
  TORCH_CHECK(tensor.is_contiguous() && tensor.element_size() == static_cast<std::int64_t>(sizeof(T)),
              "an operator was handed a tensor that is not contiguous or of another element size");
  return static_cast<T*>(tensor.data_ptr());
}

inline std::int64_t width_of(const at::Tensor& tensor) {
  return tensor.size(-1);
}
inline std::int64_t rows_of(const at::Tensor& tensor) {
  return tensor.numel() / tensor.size(-1);
}

// Calls function(T{}) with T the element type of the tensor.
template <typename F>
void with_element_type(const at::Tensor& tensor, F&& function) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return function(float{});
    case at::kBFloat16:
      return function(BFloat16{});
    case at::kHalf:
      return function(Float16{});
    default:
      TORCH_CHECK(false, "operators compute in float32, bfloat16 or float16, not in ", tensor.scalar_type());
  }
}

// Fewer elements are not worth a second thread.
inline constexpr std::int64_t k_elements_per_thread = 16384;

// Calls function(begin, end) for parts of [0, rows) whose rows have `width` elements.
template <typename F>
void for_rows(std::int64_t rows, std::int64_t width, F&& function) {
  at::parallel_for(0, rows,
                   std::max<std::int64_t>(1, k_elements_per_thread / std::max<std::int64_t>(1, width)),
                   std::forward<F>(function));
}

// Calls function(begin, end, scratch) for parts of [0, count), with that many bytes of scratch memory for
// each thread at work.
template <typename F>
void for_parts_with_scratch(std::int64_t count, std::int64_t bytes, F&& function) {
  const std::int64_t threads = std::min<std::int64_t>(count, at::get_num_threads());
  const at::Tensor memory = at::empty({threads * bytes}, at::TensorOptions(at::kByte));
  char* start = static_cast<char*>(memory.data_ptr());
  at::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
    function(begin, end, start + at::get_thread_num() * bytes);
  });
}

// Adds up rows into a gradient: calls add(begin, end, sums) for parts of [0, rows), where `sums` are `width`
// float32 to add to, then stores the total. Parts and their order depend on the number of threads only.
template <typename F>
void sum_rows_into(const at::Tensor& gradient, bool accumulate, std::int64_t rows, F&& add) {
  const std::int64_t width = gradient.numel();
  const std::int64_t parts = std::min<std::int64_t>(rows, at::get_num_threads());
  const at::Tensor memory = at::empty({parts * width}, at::TensorOptions(at::kFloat));
  auto* sums = static_cast<float*>(memory.data_ptr());
  std::fill_n(sums, parts * width, 0.0f);
  at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part)
      add(rows * part / parts, rows * (part + 1) / parts, sums + part * width);
  });
  for (std::int64_t part = 1; part < parts; ++part)
    row_kernels<float>().add_row(sums + part * width, width, sums);
  with_element_type(gradient, [&](auto element) {
    using T = decltype(element);
    row_kernels<T>().store_row(sums, accumulate, width, data_of<T>(gradient));
  });
}

}  // namespace shardlab
