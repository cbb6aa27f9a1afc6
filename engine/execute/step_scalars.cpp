#include "engine/execute/step_scalars.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/scenario/precision_spec.h"
#include "engine/scenario/train_spec.h"

namespace shardlab {

double learning_rate(const TrainSpec& train, std::int64_t step, std::int64_t run_steps) {
  const ScheduleSpec& schedule = train.schedule;
  const std::int64_t warmup = schedule.warmup_steps;
  if (step < warmup) return train.learning_rate * static_cast<double>(step) / static_cast<double>(warmup);
  if (schedule.kind == ScheduleKind::constant) return train.learning_rate;
  const std::int64_t total = schedule.total_steps > 0 ? schedule.total_steps : run_steps;
  const auto decay_steps = static_cast<double>(std::max<std::int64_t>(1, total - warmup));
  const double progress = std::min(1.0, static_cast<double>(step - warmup) / decay_steps);
  if (schedule.kind == ScheduleKind::linear) return train.learning_rate * (1 - progress);
  return train.learning_rate * 0.5 * (1 + std::cos(std::numbers::pi * progress));
}

LossScale::LossScale(const ScalerSpec& spec)
    : value_(static_cast<float>(spec.initial_scale)),
      growth_(static_cast<float>(spec.growth)),
      backoff_(static_cast<float>(spec.backoff)),
      interval_(spec.interval) {}

void LossScale::update(bool overflow) {
  if (overflow) {
    value_ *= backoff_;
    good_steps_ = 0;
    return;
  }
  if (++good_steps_ < interval_) return;
  good_steps_ = 0;
  const float grown = value_ * growth_;
  if (std::isfinite(grown)) value_ = grown;
}

}  // namespace shardlab
