// From tensors to the raw pointers that row kernels take, and from a loop over rows to threads. Private to
// this folder.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "engine/execute/torch/kernels/row_kernels.h"
#include "engine/model/model_graph.h"
#include "engine/model/operators/attribute_keys.h"

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
// A view of two dimensions.
inline at::Tensor as_matrix(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

// Calls function(T{}) with T the element type of the tensor.
template <typename F>
void with_element_type(const at::Tensor& tensor, F&& function) {
  switch (tensor.scalar_type()) {
    case at::kFloat: return function(float{});
    case at::kBFloat16: return function(BFloat16{});
    case at::kHalf: return function(Float16{});
    default:
      TORCH_CHECK(false, "operators compute in float32, bfloat16 or float16, not in ", tensor.scalar_type());
  }
}

inline GeluForm gelu_form(const Operator& op) {
  return op.attributes.get_or(attribute::k_tanh, false) ? GeluForm::tanh : GeluForm::exact;
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

// Adds up rows into gradients that lie behind each other: calls add(begin, end, sums) for parts of [0, rows),
// where `sums` are as many float32 to add to as all gradients have elements, then stores the totals. Parts
// and their order depend on the number of threads only.
struct SummedGradient {
  at::Tensor gradient;
  bool accumulate = false;
};
template <typename F>
void sum_rows_into(std::initializer_list<SummedGradient> gradients, std::int64_t rows, F&& add) {
  std::int64_t width = 0;
  for (const SummedGradient& one : gradients) width += one.gradient.numel();
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
  for (const SummedGradient& one : gradients) {
    with_element_type(one.gradient, [&](auto element) {
      using T = decltype(element);
      row_kernels<T>().store_row(sums, one.accumulate, one.gradient.numel(), data_of<T>(one.gradient));
    });
    sums += one.gradient.numel();
  }
}
template <typename F>
void sum_rows_into(const at::Tensor& gradient, bool accumulate, std::int64_t rows, F&& add) {
  sum_rows_into({{gradient, accumulate}}, rows, std::forward<F>(add));
}

}  // namespace shardlab
