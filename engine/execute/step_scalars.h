// What changes from step to step: the learning rate, and the factor on a float16 run's loss.
#pragma once

#include <cstdint>

namespace shardlab {

struct ScalerSpec;
struct TrainSpec;

// `step` counts optimizer steps from 0, `run_steps` is the length of the run, used where the schedule gives
// no total_steps. Warm-up rises linearly from 0: step / warmup_steps. After it, linear falls to 0 at
// total_steps and cosine follows half a period to 0 there; constant stays. Source: transformers 5,
// optimization.py (get_linear_schedule_with_warmup and its sisters).
double learning_rate(const TrainSpec& train, std::int64_t step, std::int64_t run_steps);

// The factor on the loss that keeps float16 gradients from vanishing.
//
// Source: torch 2.11, torch/amp/grad_scaler.py: after an overflow, whose step was skipped, the scale is
// multiplied by `backoff`; after `interval` steps in a row without one by `growth`, unless that is no number
// any more.
class LossScale {
 public:
  explicit LossScale(const ScalerSpec& spec);

  float value() const { return value_; }
  // What gradients are multiplied with; computed in double as torch does.
  float inverse() const { return static_cast<float>(1.0 / static_cast<double>(value_)); }
  // After each step.
  void update(bool overflow);

 private:
  float value_;
  float growth_;
  float backoff_;
  int interval_;
  int good_steps_ = 0;  // in a row
};

}  // namespace shardlab
