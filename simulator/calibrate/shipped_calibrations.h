// Calibrations that come with the program: measured on GPUs that few have at hand.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

// The texts of assets/calibration/*.json, by file name; none where there is no such folder. For
// choose_calibration, after those that were measured here. A file that cannot be read is run_failed.
Result<std::vector<std::string>> shipped_calibrations();

}  // namespace shardlab
