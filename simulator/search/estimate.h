// What a configuration takes at least, in closed form: nothing is planned, nothing is simulated.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Bounds from below that no prediction of the scenario falls short of; a bound of 0 says nothing.
struct Estimate {
  double step_ns =
      0;         // arithmetic at the highest rate of the device; what must cross the wires, at their rate
  Bytes memory;  // a rank's parameters, gradients and optimizer states, as they all exist before the update
  std::optional<Bytes> limit;  // of the device
  std::int64_t tokens = 0;     // of a step; exact
};

// `calibrated`: whether times come from a calibration; of those nothing is known before they are looked up,
// so that the time has no bound. Errors: what the scenario asks of a model that it cannot have.
Result<Estimate> estimate(const Scenario& scenario, bool calibrated);

}  // namespace shardlab
