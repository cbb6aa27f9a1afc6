#include "engine/plan/optimizer_rule.h"

#include <algorithm>
#include <numeric>

#include "engine/scenario/train_spec.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_block_of_8_bits = 256;

bool is_fused(const TrainSpec& train) {
  return train.optimizer_implementation == OptimizerImplementation::fused || updates_by_bitsandbytes(train);
}

// Without a decoupled weight decay the decayed gradient is a tensor of its own.
bool decays_gradient(const TrainSpec& train) {
  return train.weight_decay != 0 && train.optimizer != Optimizer::adamw;
}

// parameter += alpha gradient; with momentum buffer = momentum * buffer, buffer += gradient before it.
OptimizerRule sgd_rule(const TrainSpec& train) {
  const bool momentum = train.momentum != 0;
  OptimizerRule rule;
  if (momentum) rule.states = {BufferRole::momentum};
  if (is_fused(train)) {
    rule.passes = momentum ? 5 : 3;
    return rule;
  }
  rule.kernels = 1 + (momentum ? 2 : 0) + (decays_gradient(train) ? 1 : 0);
  rule.passes = 3 + (momentum ? 5 : 0) + (decays_gradient(train) ? 3 : 0);
  return rule;
}

// lerp (3), mul (2), addcmul (3), sqrt (2), div (2), add (2), addcdiv (4), and the weight decay.
OptimizerRule adam_rule(const TrainSpec& train) {
  OptimizerRule rule;
  rule.states = {BufferRole::exp_avg, BufferRole::exp_avg_sq};
  rule.passes = 7;
  rule.paged = train.optimizer_paged;
  if (rule.paged) rule.state_dtype = DType::float32;
  if (train.optimizer == Optimizer::adamw_8bit) {
    rule.state_dtype = DType::uint8;
    rule.state_block = k_block_of_8_bits;
  }
  if (is_fused(train)) return rule;
  const bool decays = train.weight_decay != 0;
  rule.kernels = 7 + (decays ? 1 : 0);
  rule.passes = 18 + (decays ? (train.optimizer == Optimizer::adamw ? 2 : 3) : 0);
  return rule;
}

}  // namespace

bool updates_by_bitsandbytes(const TrainSpec& train) {
  return train.optimizer == Optimizer::adamw_8bit || train.optimizer_paged;
}

OptimizerRule optimizer_rule(const TrainSpec& train) {
  return train.optimizer == Optimizer::sgd ? sgd_rule(train) : adam_rule(train);
}

std::int64_t optimizer_temporaries(const TrainSpec& train, std::span<const std::int64_t> tensors) {
  const bool adam = train.optimizer != Optimizer::sgd;
  if (is_fused(train) || (!adam && !decays_gradient(train))) return 0;
  // The root of the second moments, or the decayed gradients; Adam drops these before it makes those.
  if (train.optimizer_implementation == OptimizerImplementation::foreach)
    return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
  std::int64_t most = 0, last = 0;
  for (const std::int64_t elements : tensors) {
    // Adam: the last denominator, the root, the new denominator, and perhaps the decayed gradient.
    const std::int64_t here = adam ? last + (decays_gradient(train) ? 3 : 2) * elements : elements;
    most = std::max(most, here);
    last = elements;
  }
  return most;
}

}  // namespace shardlab
