// Row arithmetic of the operators on a CPU: plain functions over raw pointers, compiled once for each
// instruction set.
//
// Arithmetic is float32 whatever the element type; bfloat16 and float16 are rounded to nearest even when
// stored. Sizes are in elements, rows follow each other without gaps unless a stride is given. A function
// works on the rows it is handed, on the calling thread, and allocates nothing. NaN in, NaN out. exp has a
// relative error below 2e-7.
//
// The bodies are in body/*.h, included by one source file for each instruction set (isa_*.cpp) into a
// namespace of its own, so that no function compiled for a newer processor can be merged into code that an
// older one runs.
#pragma once

#include <cstdint>

namespace shardlab {

// Same bits as c10::BFloat16.
struct BFloat16 {
  std::uint16_t bits;
};

// Same bits as c10::Half.
struct Float16 {
  std::uint16_t bits;
};

// A block of attention scores: `rows` queries times `columns` keys. Row r attends to its first min(columns,
// limit + r) keys, none when that is not positive.
struct ScoreBlock {
  float* scores;
  std::int64_t rows, columns, limit;
};

template <typename T>
struct RowKernels {
  // y = x / sqrt(mean(x^2) + epsilon) * w; reciprocal: one value a row.
  void (*rms_norm_forward)(const T* x, const T* w, float epsilon, std::int64_t rows, std::int64_t width, T* y,
                           float* reciprocal);
  // dx (unless null) is overwritten, dw (unless null; float32) added to.
  void (*rms_norm_backward)(const T* dy, const T* x, const T* w, const float* reciprocal, std::int64_t rows,
                            std::int64_t width, T* dx, float* dw);

  // Rotates the pairs (i, i + half) of each head by the angle of the row's position, times `direction` (1 or
  // -1). Row r is at position (first_row + r) % positions; cosine and sine are [positions, half].
  void (*rope)(const T* x, const float* cosine, const float* sine, std::int64_t first_row, std::int64_t rows,
               std::int64_t positions, std::int64_t heads, std::int64_t half, float direction, T* y);

  // y = silu(gate) * up, element by element; dgate and dup may each be null.
  void (*swiglu_forward)(const T* gate, const T* up, std::int64_t count, T* y);
  void (*swiglu_backward)(const T* dy, const T* gate, const T* up, std::int64_t count, T* dgate, T* dup);

  // result[r] = log(sum(exp(x[r]))).
  void (*log_sum_exp)(const T* x, std::int64_t rows, std::int64_t width, float* result);
  // dx = (softmax(x) - one_hot(target)) * scale; dx may be x. Targets are in range.
  void (*cross_entropy_backward)(const T* x, const std::int64_t* targets, const float* log_sum_exp,
                                 float scale, std::int64_t rows, std::int64_t width, T* dx);

  // sums[i] += row[i]
  void (*add_row)(const T* row, std::int64_t width, float* sums);
  // row[i] = sums[i], or row[i] += sums[i]
  void (*store_row)(const float* sums, bool accumulate, std::int64_t width, T* row);

  // One step of a softmax over blocks of keys: exp(score - maximum), where `maximum` and `sum` (by row)
  // include this block afterwards and `correction` is what earlier results of the row must be multiplied
  // with. Probabilities beyond the limit are 0. For float, `probabilities` may be the scores.
  void (*softmax_step)(const ScoreBlock& block, float* maximum, float* sum, float* correction,
                       T* probabilities);
  // values[r] *= factors[r], rows `stride` apart.
  void (*scale_rows)(const float* factors, std::int64_t rows, std::int64_t width, std::int64_t stride,
                     float* values);
  // y[r] = x[r] * factors[r].
  void (*scale_rows_into)(const float* factors, std::int64_t rows, std::int64_t width, const float* x,
                          std::int64_t x_stride, T* y, std::int64_t y_stride);
  // scores = exp(score - log_sum_exp[r]), 0 beyond the limit; copied into `probabilities` when that is
  // another array.
  void (*probabilities)(const ScoreBlock& block, const float* log_sum_exp, T* probabilities);
  // gradient = probability * (gradient - delta[r]), stored to `result`; for float that may be the gradient.
  void (*softmax_backward)(const ScoreBlock& block, const float* gradient, const float* delta, T* result);
  // result[r] = sum(a[r] * b[r]), rows `stride` apart.
  void (*dot_rows)(const T* a, const T* b, std::int64_t rows, std::int64_t width, std::int64_t stride,
                   float* result);
};

enum class InstructionSet : std::uint8_t { baseline, avx2, avx512 };

// What this processor runs best.
InstructionSet best_instruction_set();

// T: float, BFloat16 or Float16. The processor must have the instruction set.
template <typename T>
const RowKernels<T>& row_kernels(InstructionSet set);
template <typename T>
const RowKernels<T>& row_kernels() {
  static const RowKernels<T>& best = row_kernels<T>(best_instruction_set());
  return best;
}

}  // namespace shardlab
