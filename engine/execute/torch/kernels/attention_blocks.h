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
