// The coefficients of one probe. Private to this folder.
#pragma once

#include <span>

#include "simulator/calibrate/calibration.h"

namespace shardlab {

// `results`: all shapes of one probe, with their measured times. Writes its coefficients
// ("<probe>.<coefficient>") into the calibration and the fitted times into the results. Probes of the host
// and of contention are kept as measured.
void fit_probe(Calibration& calibration, std::span<ProbeResult> results);

}  // namespace shardlab
