#include "engine/execute/step_scalars.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/scenario/loss_scaling.h"
#include "engine/scenario/strategy_facts.h"
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

LossScale::LossScale(const Scenario& scenario)
    : spec_(*scenario.scaler),
      rule_(facts_of(scenario).loss_scaler),
      value_(static_cast<float>(spec_.initial_scale)),
      interval_(growth_interval(scenario)) {
  if (rule_ == LossScaler::deepspeed) hysteresis_ = spec_.hysteresis.value_or(2);
}

bool LossScale::update(bool overflow) {
  if (rule_ == LossScaler::grad_scaler) {
    update_torchs(overflow);
    return true;
  }
  const bool goes_on = !spec_.dynamic || !overflow || lower();
  if (overflow) last_overflow_ = step_;
  if (spec_.dynamic && !overflow) grow_when_due();
  ++step_;
  return goes_on;
}

void LossScale::update_torchs(bool overflow) {
  if (overflow) {
    value_ *= static_cast<float>(spec_.backoff);
    good_steps_ = 0;
    return;
  }
  if (++good_steps_ < interval_) return;
  good_steps_ = 0;
  const float grown = value_ * static_cast<float>(spec_.growth);
  if (std::isfinite(grown)) value_ = grown;
}

bool LossScale::lower() {
  if (hysteresis_ > 1) {
    --hysteresis_;
    return true;
  }
  const auto minimum = static_cast<float>(spec_.minimum);
  if (value_ == minimum && rule_ == LossScaler::deepspeed) return false;
  value_ = std::max(value_ / 2, minimum);
  return true;
}

void LossScale::grow_when_due() {
  if (spec_.consecutive_hysteresis) hysteresis_ = spec_.hysteresis.value_or(2);
  const std::int64_t stable = step_ - last_overflow_ - 1;
  if (stable <= 0 || stable % interval_ != 0) return;
  if (rule_ == LossScaler::deepspeed) hysteresis_ = spec_.hysteresis.value_or(2);
  value_ *= 2;
}

}  // namespace shardlab
