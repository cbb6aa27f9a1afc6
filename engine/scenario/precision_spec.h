// The `precision` and `scaler` sections of a scenario.
#pragma once

#include <optional>

#include "engine/base/dtype.h"

namespace shardlab {

// Absent: the stored dtype of the model.
struct PrecisionSpec {
  std::optional<DType> param;
  std::optional<DType> reduce;
  std::optional<DType> buffer;
  std::optional<DType> output;
  bool keep_low_precision_grads = false;
  std::optional<bool> cast_forward_inputs;
  std::optional<DType> autocast;
  friend bool operator==(const PrecisionSpec&, const PrecisionSpec&) = default;
};

struct ScalerSpec {
  std::optional<bool> enabled;  // absent: on for float16
  double initial_scale = 65536;
  double growth = 2;
  double backoff = 0.5;
  std::optional<int> interval;  // absent: 2000, under DeepSpeed 1000
  // DeepSpeed's alone:
  bool dynamic = true;                  // else the scale stays what it is, and steps are skipped all the same
  std::optional<int> hysteresis;        // absent: 2
  bool consecutive_hysteresis = false;  // a step without overflow restores it, not a growth alone
  double minimum = 1;
  friend bool operator==(const ScalerSpec&, const ScalerSpec&) = default;
};

}  // namespace shardlab
