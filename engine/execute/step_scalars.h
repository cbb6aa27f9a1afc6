// What changes from step to step: the learning rate, and the factor on a float16 run's loss.
#pragma once

#include <cstdint>

#include "engine/scenario/loss_scaler.h"
#include "engine/scenario/precision_spec.h"

namespace shardlab {

struct Scenario;
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
// any more. DeepSpeed 0.19.8, runtime/fp16/loss_scaler.py (DynamicLossScaler): the first `hysteresis` - 1
// overflows only skip their steps, each further one halves the scale, and at `minimum` the run ends;
// `interval` steps after the last overflow it doubles, and the hysteresis is whole again. Without ZeRO
// (fp16/unfused_optimizer.py) every overflow halves it, down to the minimum, and the run goes on.
class LossScale {
 public:
  // By the rules of the scenario's strategy.
  explicit LossScale(const Scenario& scenario);

  float value() const { return value_; }
  // What gradients are multiplied with; computed in double as torch does.
  float inverse() const { return static_cast<float>(1.0 / static_cast<double>(value_)); }
  // After each step. False: the scale cannot fall any further, and the framework ends the run.
  [[nodiscard]] bool update(bool overflow);
  // The gradients keep the factor until the optimizer multiplies its float32 ones: LossScaler.
  bool stays_in_gradients() const { return rule_ != LossScaler::grad_scaler; }

 private:
  void update_torchs(bool overflow);
  bool lower();
  void grow_when_due();

  ScalerSpec spec_;
  LossScaler rule_;
  float value_;
  int interval_;
  int good_steps_ = 0;  // in a row, of GradScaler
  int hysteresis_ = 1;  // overflows that lower the scale, counted down
  std::int64_t step_ = 0, last_overflow_ = -1;
};

}  // namespace shardlab
