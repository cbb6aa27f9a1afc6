// Softmax over rows: the loss, and the blocks of attention. Private to isa_*.cpp.
#pragma once

#include "engine/execute/torch/kernels/body/vector.h"

namespace shardlab::SHARDLAB_ISA {

// Behind the end of a row: exp makes it 1e-38, nothing beside a sum of at least 1.
constexpr float k_lowest = -3.4028235e38f;

template <typename T>
SHARDLAB_INLINE float largest_in_row(const T* x, std::int64_t width) {
  Floats best = broadcast(k_lowest);
  for (std::int64_t i = 0; i < width; i += k_lanes) best = larger(load_or(x + i, width - i, k_lowest), best);
  return largest_of(best);
}

template <typename T>
void log_sum_exp(const T* x, std::int64_t rows, std::int64_t width, float* result) {
  for (std::int64_t row = 0; row < rows; ++row, x += width) {
    const float maximum = largest_in_row(x, width);
    Floats sums{};
    for (std::int64_t i = 0; i < width; i += k_lanes)
      sums += exponential(load_or(x + i, width - i, k_lowest) - maximum);
    const float sum = sum_of(sums);
    result[row] = maximum + __builtin_logf(sum);
  }
}

template <typename T>
void cross_entropy_backward(const T* x, const std::int64_t* targets, const float* log_sum_exp, float scale,
                            std::int64_t rows, std::int64_t width, T* dx) {
  for (std::int64_t row = 0; row < rows; ++row, x += width, dx += width) {
    const float shift = log_sum_exp[row];
    const Floats target = exponential(broadcast(load_one(x + targets[row]) - shift));
    for (std::int64_t i = 0; i < width; i += k_lanes) {
      store(dx + i, exponential(load(x + i, width - i) - shift) * scale, width - i);
    }
    store_one(dx + targets[row], (target[0] - 1.0f) * scale);
  }
}

// Writes zeros to [from, to).
template <typename T>
SHARDLAB_INLINE void clear(T* row, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; i += k_lanes) store(row + i, Floats{}, to - i);
}

// Keys that a row attends to.
struct Visible {
  std::int64_t from, to;
};
SHARDLAB_INLINE Visible visible(const ScoreBlock& block, std::int64_t row) {
  const std::int64_t limit = block.limit + row, first = block.from + row;
  const std::int64_t to = limit < 0 ? 0 : limit < block.columns ? limit : block.columns;
  const std::int64_t from = first < 0 ? 0 : first;
  return {from < to ? from : to, to};
}

// Stores exp(score - shift) of the visible part, zeros around it; returns the sum.
template <typename T>
SHARDLAB_INLINE float exponentials(const float* scores, Visible seen, std::int64_t columns, float shift,
                                   T* result) {
  Floats sums{};
  for (std::int64_t i = seen.from; i < seen.to; i += k_lanes) {
    const Floats value = exponential(load_or(scores + i, seen.to - i, k_lowest) - shift);
    sums += value;
    store(result + i, value, seen.to - i);
  }
  clear(result, 0, seen.from);
  clear(result, seen.to, columns);
  return sum_of(sums);
}

template <typename T>
void softmax_step(const ScoreBlock& block, float* maximum, float* sum, float* correction, T* probabilities) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const float* scores = block.scores + row * block.columns;
    T* result = probabilities + row * block.columns;
    const Visible seen = visible(block, row);
    const float before = maximum[row];
    const float here = largest_in_row(scores + seen.from, seen.to - seen.from);
    maximum[row] = here > before ? here : before;
    correction[row] = exponential(broadcast(before - maximum[row]))[0];
    sum[row] = sum[row] * correction[row] + exponentials(scores, seen, block.columns, maximum[row], result);
  }
}

template <typename T>
void scale_rows(const float* factors, std::int64_t rows, std::int64_t width, std::int64_t stride,
                float* values) {
  for (std::int64_t row = 0; row < rows; ++row, values += stride) {
    if (factors[row] == 1.0f) continue;
    for (std::int64_t i = 0; i < width; i += k_lanes)
      store(values + i, load(values + i, width - i) * factors[row], width - i);
  }
}

template <typename T>
void scale_rows_into(const float* factors, std::int64_t rows, std::int64_t width, const float* x,
                     std::int64_t x_stride, T* y, std::int64_t y_stride) {
  for (std::int64_t row = 0; row < rows; ++row, x += x_stride, y += y_stride) {
    for (std::int64_t i = 0; i < width; i += k_lanes)
      store(y + i, load(x + i, width - i) * factors[row], width - i);
  }
}

SHARDLAB_INLINE void copy_row(const float*, std::int64_t, float*) {}
template <typename T>
SHARDLAB_INLINE void copy_row(const float* from, std::int64_t width, T* to) {
  for (std::int64_t i = 0; i < width; i += k_lanes) store(to + i, load(from + i, width - i), width - i);
}

template <typename T>
void probabilities(const ScoreBlock& block, const float* log_sum_exp, T* result) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    float* scores = block.scores + row * block.columns;
    exponentials(scores, visible(block, row), block.columns, log_sum_exp[row], scores);
    copy_row(scores, block.columns, result + row * block.columns);
  }
}

template <typename T>
void softmax_backward(const ScoreBlock& block, const float* gradient, const float* delta, T* result) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const std::int64_t begin = row * block.columns;
    for (std::int64_t i = 0; i < block.columns; i += k_lanes) {
      const std::int64_t left = block.columns - i;
      const Floats p = load(block.scores + begin + i, left);
      store(result + begin + i, p * (load(gradient + begin + i, left) - delta[row]), left);
    }
  }
}

template <typename T>
void dot_rows(const T* a, const T* b, std::int64_t rows, std::int64_t width, std::int64_t a_stride,
              std::int64_t b_stride, float* result) {
  for (std::int64_t row = 0; row < rows; ++row, a += a_stride, b += b_stride) {
    Floats products{};
    for (std::int64_t i = 0; i < width; i += k_lanes)
      products += load(a + i, width - i) * load(b + i, width - i);
    result[row] = sum_of(products);
  }
}

}  // namespace shardlab::SHARDLAB_ISA
