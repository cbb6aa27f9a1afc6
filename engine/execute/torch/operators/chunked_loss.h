// What the chunked losses share. Private to this folder.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/execute/torch/operators/operator_implementation.h"
#include "engine/execute/torch/operators/products.h"
#include "engine/execute/torch/operators/tensor_access.h"

namespace shardlab {

inline at::Tensor matrix_of(const at::Tensor& tensor) {
  return tensor.view({rows_of(tensor), width_of(tensor)});
}

// to = a b, or to += a b.
inline void multiply_into(const at::Tensor& to, const at::Tensor& a, const at::Tensor& b, bool accumulate) {
  if (accumulate) {
    add_product(to, to, a, b);
  } else {
    product(to, a, b);
  }
}

// Logits of x for rows [begin, begin + count) of the weight.
inline void part_of_logits(std::span<const at::Tensor> parameters, const at::Tensor& x, std::int64_t begin,
                           std::int64_t count, const at::Tensor& logits) {
  const at::Tensor weight = parameters[0].narrow(0, begin, count).t();
  if (parameters.size() > 1) {
    add_product(logits, parameters[1].narrow(0, begin, count), x, weight);
  } else {
    product(logits, x, weight);
  }
}

// Adds up rows into the gradient of a bias.
inline void sum_into_bias(const at::Tensor& gradient, bool accumulate, const at::Tensor& dlogits) {
  sum_rows_into(gradient, accumulate, dlogits.size(0),
                [&](std::int64_t begin, std::int64_t end, float* sums) {
                  with_element_type(dlogits, [&](auto element) {
                    using T = decltype(element);
                    const T* rows = data_of<T>(dlogits);
                    for (std::int64_t row = begin; row < end; ++row)
                      row_kernels<T>().add_row(rows + row * dlogits.size(1), dlogits.size(1), sums);
                  });
                });
}

inline void check_classes(const std::int64_t* targets, std::int64_t rows, std::int64_t classes) {
  for (std::int64_t row = 0; row < rows; ++row) {
    TORCH_CHECK_INDEX(targets[row] >= 0 && targets[row] < classes, "target ", targets[row], " of row ", row,
                      " is not below ", classes, ", the number of classes");
  }
}

// An element as float32.
template <typename T>
float element_at(const T* row, std::int64_t column) {
  float value = 0;
  row_kernels<T>().add_row(row + column, 1, &value);
  return value;
}

}  // namespace shardlab
