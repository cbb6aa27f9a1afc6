// Which of the stored calibrations a prediction on this machine may use.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/scenario/scenario.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

// The first of `texts` (to_json(), newest first) that was made on this machine with the scenario's ranks and
// threads. For GPUs the first of the same GPU and ranks on one node, wherever it was made; else the first of
// the same GPU, of which the part holds that does not depend on ranks. A text that is no calibration is
// bad_input (where it names the GPU); `name` stands for where they come from.
Result<std::optional<Calibration>> choose_calibration(std::span<const std::string> texts,
                                                      std::string_view name, const Scenario& scenario);

}  // namespace shardlab
