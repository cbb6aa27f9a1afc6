// Shared by the two directions of attention. Private to this folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "engine/execute/torch/kernels/attention_kernel.h"
#include "engine/execute/torch/kernels/blas.h"

namespace shardlab {

// Queries and keys of a block of scores. Wider blocks waste more work right of the diagonal, narrower ones
// make the products slow; 128 x 512 float32 is 256 KiB, well inside a second-level cache. The description of
// attention (engine/model/operators) states the scratch memory that follows from them.
inline std::int64_t query_block(const AttentionShape& shape) {
  return shape.sequence < 1024 ? 64 : 128;
}
inline constexpr std::int64_t k_key_block = 512;

template <typename T>
inline constexpr bool k_is_float = std::is_same_v<T, float>;

inline std::int64_t block_rows(const AttentionShape& shape) {
  return std::min(query_block(shape), shape.sequence);
}
inline std::int64_t block_columns(const AttentionShape& shape) {
  return std::min(k_key_block, shape.sequence);
}

// The first key that a block of queries starting at `first` sees, rounded down to a block of keys.
inline std::int64_t first_key_block(const AttentionShape& shape, std::int64_t first) {
  if (shape.window == 0) return 0;
  return std::max<std::int64_t>(0, first - shape.window + 1) / k_key_block * k_key_block;
}

// Scores of queries [first, first + rows) against keys [key, key + columns), with what each query sees.
inline ScoreBlock score_block(const AttentionShape& shape, float* scores, std::int64_t rows,
                              std::int64_t columns, std::int64_t first, std::int64_t key) {
  ScoreBlock block{scores, rows, columns, first - key + 1};
  if (shape.window > 0) block.from = first - key + 1 - shape.window;
  return block;
}

// What changes scores between the product and the softmax: the cap, then the bias of the head. The slopes of
// the cap are written where `slopes` is not null.
inline void adjust_scores(const AttentionShape& shape, const ScoreBlock& block, const float* bias,
                          float* slopes) {
  const RowKernels<float>& kernels = row_kernels<float>();
  const std::int64_t count = block.rows * block.columns;
  if (shape.soft_cap > 0) {
    kernels.soft_cap_forward(shape.soft_cap, block.scores, count, block.scores);
    if (slopes) {
      std::fill_n(slopes, count, 1.0f);
      kernels.soft_cap_backward(shape.soft_cap, slopes, block.scores, count, slopes);
    }
  }
  for (std::int64_t row = 0; bias && row < block.rows; ++row)
    kernels.add_row(bias, block.columns, block.scores + row * block.columns);
}

// Hands out pieces of a scratch area, each aligned to 64 bytes. With a null start it only counts.
class Scratch {
 public:
  explicit Scratch(char* start) : start_(start) {}
  template <typename T>
  T* take(std::int64_t count) {
    T* piece = start_ ? reinterpret_cast<T*>(start_ + used_) : nullptr;
    used_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return piece;
  }
  std::int64_t used() const { return used_; }

 private:
  char* start_;
  std::int64_t used_ = 0;
};

}  // namespace shardlab
