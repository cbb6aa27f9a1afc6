// Whose rules the factor on a float16 loss follows.
#pragma once

#include <cstdint>

namespace shardlab {

enum class LossScaler : std::uint8_t {
  grad_scaler,        // torch.amp.GradScaler
  deepspeed,          // DeepSpeed's ZeRO: DynamicLossScaler
  deepspeed_unfused,  // DeepSpeed without ZeRO: FP16_UnfusedOptimizer, which knows no hysteresis
};

}  // namespace shardlab
