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

// A block of attention scores: `rows` queries times `columns` keys. Row r attends to keys
// [max(0, from + r), min(columns, limit + r)), none when that is empty.
struct ScoreBlock {
  float* scores;
  std::int64_t rows, columns, limit;
  std::int64_t from = -(std::int64_t{1} << 40);  // without a window: everything before the limit
};

// A row of heads in groups: of each group the first `turned` heads are rotated, the next `passed` copied. Of
// a head of `head_dim` elements the first 2 * half are rotated, the rest copied.
struct HeadLayout {
  std::int64_t groups, turned, passed, head_dim, half;
};

// The two forms of x Phi(x): with the error function, or the tanh approximation (arXiv 1606.08415).
enum class GeluForm : std::uint8_t { exact, tanh };

template <typename T>
struct RowKernels {
  // y = x / sqrt(mean(x^2) + epsilon) * (w + offset); reciprocal: one value a row.
  void (*rms_norm_forward)(const T* x, const T* w, float offset, float epsilon, std::int64_t rows,
                           std::int64_t width, T* y, float* reciprocal);
  // dx (unless null) is overwritten, dw (unless null; float32) added to.
  void (*rms_norm_backward)(const T* dy, const T* x, const T* w, float offset, const float* reciprocal,
                            std::int64_t rows, std::int64_t width, T* dx, float* dw);

  // y = (x - mean(x)) / sqrt(variance(x) + epsilon) * w + b; b may be null. One mean and one reciprocal a
  // row.
  void (*layer_norm_forward)(const T* x, const T* w, const T* b, float epsilon, std::int64_t rows,
                             std::int64_t width, T* y, float* mean, float* reciprocal);
  // dx (unless null) is overwritten, dw and db (unless null; float32) added to.
  void (*layer_norm_backward)(const T* dy, const T* x, const T* w, const float* mean, const float* reciprocal,
                              std::int64_t rows, std::int64_t width, T* dx, float* dw, float* db);

  // Rotates the pairs (i, i + half) of each turned head by the angle of the row's position, times `direction`
  // (1 or -1). Row r is at position (first_row + r) % positions; cosine and sine are [positions, half].
  void (*rope)(const T* x, const float* cosine, const float* sine, std::int64_t first_row, std::int64_t rows,
               std::int64_t positions, const HeadLayout& layout, float direction, T* y);

  // y = silu(gate) * up, element by element; dgate and dup may each be null.
  void (*swiglu_forward)(const T* gate, const T* up, std::int64_t count, T* y);
  void (*swiglu_backward)(const T* dy, const T* gate, const T* up, std::int64_t count, T* dgate, T* dup);

  // y = gelu(x), element by element.
  void (*gelu_forward)(GeluForm form, const T* x, std::int64_t count, T* y);
  void (*gelu_backward)(GeluForm form, const T* dy, const T* x, std::int64_t count, T* dx);

  // y = gelu(gate) * up, element by element; dgate and dup may each be null.
  void (*geglu_forward)(GeluForm form, const T* gate, const T* up, std::int64_t count, T* y);
  void (*geglu_backward)(GeluForm form, const T* dy, const T* gate, const T* up, std::int64_t count, T* dgate,
                         T* dup);

  // y = cap * tanh(x / cap), element by element; dx from y. y may be x, dx may be dy.
  void (*soft_cap_forward)(float cap, const T* x, std::int64_t count, T* y);
  void (*soft_cap_backward)(float cap, const T* dy, const T* y, std::int64_t count, T* dx);

  // y = x * factor where `kept` is 1, else x * 0, element by element. y may be x.
  void (*apply_mask)(float factor, const T* x, const std::uint8_t* kept, std::int64_t count, T* y);

  // y = x * factor, element by element.
  void (*scale)(float factor, const T* x, std::int64_t count, T* y);
  // y = a * b, element by element.
  void (*product)(const float* a, const float* b, std::int64_t count, T* y);

  // result[r] = log(sum(exp(x[r]))).
  void (*log_sum_exp)(const T* x, std::int64_t rows, std::int64_t width, float* result);
  // dx = (softmax(x) - one_hot(target)) * scale; dx may be x. Targets are in range.
  void (*cross_entropy_backward)(const T* x, const std::int64_t* targets, const float* log_sum_exp,
                                 float scale, std::int64_t rows, std::int64_t width, T* dx);

  // sums[i] += row[i]
  void (*add_row)(const T* row, std::int64_t width, float* sums);
  // sums[i] += factor * row[i]
  void (*add_scaled_row)(float factor, const T* row, std::int64_t width, float* sums);
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
  // result[r] = sum(a[r] * b[r]), rows `a_stride` and `b_stride` apart.
  void (*dot_rows)(const T* a, const T* b, std::int64_t rows, std::int64_t width, std::int64_t a_stride,
                   std::int64_t b_stride, float* result);
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
