// AdamW on one element of a flat shard: float32 states, parameters and gradients of any element type.
//
// Source: torch 2.11, aten/src/ATen/native/cuda/fused_adam_utils.cuh (adam_math, ADAMW mode).
#pragma once

#include <cmath>

#include "engine/kernels/bfloat16.h"

namespace shardlab::kernels {

struct AdamW {
  float learning_rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, weight_decay = 0;
  float correction1 = 1, root_correction2 = 1;  // 1 - beta1^step, sqrt(1 - beta2^step)
  float gradient_factor = 1;                    // of clipping
};

inline AdamW adamw(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                   std::int64_t step) {
  AdamW rule;
  rule.learning_rate = static_cast<float>(learning_rate);
  rule.beta1 = static_cast<float>(beta1);
  rule.beta2 = static_cast<float>(beta2);
  rule.epsilon = static_cast<float>(epsilon);
  rule.weight_decay = static_cast<float>(weight_decay);
  rule.correction1 = static_cast<float>(1 - std::pow(beta1, static_cast<double>(step)));
  rule.root_correction2 = static_cast<float>(std::sqrt(1 - std::pow(beta2, static_cast<double>(step))));
  return rule;
}

template <typename P, typename G>
SHARDLAB_HD void adamw_element(const AdamW& rule, P& parameter, G gradient, float& mean, float& square) {
  const float g = to_float(gradient) * rule.gradient_factor;
  const float p = to_float(parameter) * (1.0F - rule.learning_rate * rule.weight_decay);
  mean = rule.beta1 * mean + (1.0F - rule.beta1) * g;
  square = rule.beta2 * square + (1.0F - rule.beta2) * g * g;
  const float denominator = sqrtf(square) / rule.root_correction2 + rule.epsilon;
  parameter = from_float<P>(p - rule.learning_rate / rule.correction1 * mean / denominator);
}

}  // namespace shardlab::kernels
