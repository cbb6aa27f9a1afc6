// The factor on the loss that keeps float16 gradients from vanishing.
#pragma once

#include "engine/scenario/parallel_spec.h"

namespace shardlab {

// Source: torch 2.11, torch/amp/grad_scaler.py: after an overflow, whose step was skipped, the scale is
// multiplied by `backoff`; after `interval` steps in a row without one by `growth`, unless that is no number
// any more.
class LossScale {
 public:
  explicit LossScale(const ScalerSpec& spec) : spec_(spec), value_(static_cast<float>(spec.initial_scale)) {}

  float value() const { return value_; }
  // What gradients are multiplied with; computed in double as torch does.
  float inverse() const { return static_cast<float>(1.0 / static_cast<double>(value_)); }
  // After each step.
  void update(bool overflow);

 private:
  ScalerSpec spec_;
  float value_;
  int good_steps_ = 0;  // in a row
};

}  // namespace shardlab
