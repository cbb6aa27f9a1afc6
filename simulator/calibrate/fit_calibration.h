// From measurements to coefficients.
#pragma once

#include <span>

#include "engine/execute/probe.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// Coefficients for every probe that was measured, and each probe at each shape with its fitted time. Samples
// of one probe and shape, from several ranks or cases, are put together. Measurements without samples are
// dropped. `machine`, `when`, `duration_ns` and `versions` are the caller's; the id is filled in.
Calibration fit_calibration(std::span<const ProbeMeasurement> measurements, Calibration frame);

// What that calibration measured, fitted by this version's formulas.
Calibration fit_again(const Calibration& calibration);

}  // namespace shardlab
