#include "engine/execute/loss_scale.h"

#include <cmath>

namespace shardlab {

void LossScale::update(bool overflow) {
  if (overflow) {
    value_ *= static_cast<float>(spec_.backoff);
    good_steps_ = 0;
    return;
  }
  if (++good_steps_ < spec_.interval) return;
  good_steps_ = 0;
  const float grown = value_ * static_cast<float>(spec_.growth);
  if (std::isfinite(grown)) value_ = grown;
}

}  // namespace shardlab
