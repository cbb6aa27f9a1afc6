// Which of the stored calibrations a prediction on this machine may use.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// The calibration that predictions of a scenario use; none: published figures.
using CalibrationFor = std::function<Result<std::optional<Calibration>>(const Scenario&)>;

// The first of `texts` (to_json(), newest first) that was made on this machine with the scenario's ranks and
// threads. For GPUs the first of the same GPU with as many ranks on as many nodes, wherever it was made; else
// the first of the same GPU, of which the part holds that does not depend on ranks. A text that is no
// calibration is bad_input (where it names the GPU); `name` stands for where they come from.
Result<std::optional<Calibration>> choose_calibration(std::span<const std::string> texts,
                                                      std::string_view name, const Scenario& scenario);

// Calibrations that come with the program: measured on GPUs that few have at hand.

// The texts of assets/calibration/*.json, by file name; none where there is no such folder. For
// choose_calibration, after those that were measured here. A file that cannot be read is run_failed.
Result<std::vector<std::string>> shipped_calibrations();

}  // namespace shardlab
