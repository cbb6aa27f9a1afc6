// Cross-entropy of one row of logits and its gradient, without a softmax in memory: the gradient may
// overwrite the logits. Sums run in float32 with the running maximum of online softmax (arXiv 1805.02867).
#pragma once

#include <cmath>

#include "engine/kernels/bfloat16.h"
#include "engine/kernels/pack.h"

namespace shardlab::kernels {

// The target that torch's cross_entropy leaves out (ignore_index).
inline constexpr std::int64_t k_ignored_target = -100;

// log(sum(exp(logits))) in two parts, because their sum may not hold the second.
struct LogSumExp {
  float highest, rest;
};

// A pack is summed by itself: of 128256 exponentials that one lane adds one by one the last ones lose their
// lower bits, 5e-5 of the loss.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD LogSumExp log_sum_exp(Lanes& lanes, const T* logits, std::int64_t classes) {
  float highest = -INFINITY, sum = 0;
  for (std::int64_t i = lanes.lane() * N; i < classes; i += lanes.count() * N) {
    const Pack<float, N> pack = to_floats(load_pack<N>(logits + i));
    float above = highest, of_pack = 0;
    for (int j = 0; j < N; ++j) above = pack.values[j] > above ? pack.values[j] : above;
    if (above > highest) {
      sum *= expf(highest - above);
      highest = above;
    }
    const float from = highest == -INFINITY ? 0.0F : highest;  // exp(-inf), not exp(-inf + inf)
    for (int j = 0; j < N; ++j) of_pack += expf(pack.values[j] - from);
    sum += of_pack;
  }
  const float over_all = lanes.max(highest);
  // The sum of a lane without elements is 0 already, or a NaN that has to stay.
  const float scaled = highest == -INFINITY ? sum : sum * expf(highest - over_all);
  return {over_all, logf(lanes.sum(scaled))};
}

// (softmax - one_hot) * scale with probabilities exp(logit - highest - rest); 0 for a target that is left
// out.
template <int N, typename T, typename Lanes>
SHARDLAB_HD void cross_entropy_gradient(Lanes& lanes, const T* logits, std::int64_t target,
                                        std::int64_t classes, LogSumExp lse, float scale, T* gradient) {
  const bool ignored = target == k_ignored_target;
  for (std::int64_t i = lanes.lane() * N; i < classes; i += lanes.count() * N) {
    const Pack<float, N> pack = to_floats(load_pack<N>(logits + i));
    Pack<float, N> out;
    for (int j = 0; j < N; ++j) {
      const float probability = expf(pack.values[j] - lse.highest - lse.rest);
      out.values[j] = ignored ? 0.0F : (probability - (i + j == target ? 1.0F : 0.0F)) * scale;
    }
    store_pack<N>(gradient + i, from_floats<T>(out));
  }
}

// Writes the loss of the row, log(sum(exp(logits))) if `sum` is not null and, if `gradient` is not null,
// (softmax - one_hot) * scale. Targets outside [0, classes) other than the ignored one give a NaN, not a
// stray read.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void cross_entropy_row(Lanes& lanes, const T* logits, std::int64_t target, std::int64_t classes,
                                   float scale, float* loss, float* sum, T* gradient) {
  const bool ignored = target == k_ignored_target;
  const bool valid = target >= 0 && target < classes;
  const LogSumExp lse = log_sum_exp<N>(lanes, logits, classes);
  const float own = valid ? to_float(logits[target]) : NAN;
  if (lanes.lane() == 0) *loss = ignored ? 0.0F : lse.highest - own + lse.rest;
  if (lanes.lane() == 0 && sum != nullptr) *sum = lse.highest + lse.rest;
  if (gradient == nullptr) return;
  lanes.sum(0);  // the target's logit has been read by every lane before any of them overwrites it
  cross_entropy_gradient<N>(lanes, logits, target, classes, lse, scale, gradient);
}

// The gradient alone, from the sum that forward kept; it may overwrite the logits.
template <int N = 1, typename T, typename Lanes>
SHARDLAB_HD void cross_entropy_row_backward(Lanes& lanes, const T* logits, std::int64_t target,
                                            std::int64_t classes, float sum, float scale, T* gradient) {
  cross_entropy_gradient<N>(lanes, logits, target, classes, {sum, 0.0F}, scale, gradient);
}

}  // namespace shardlab::kernels
