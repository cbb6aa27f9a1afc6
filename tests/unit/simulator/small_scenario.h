// Small planned scenarios for tests of the simulator. What is malformed throws std::runtime_error.
#pragma once

#include <string>

#include "engine/hardware/device.h"
#include "engine/plan/planned_scenario.h"

namespace shardlab::test {

// tiny-llama on two processor ranks, sequences of 32 unless `model`, further keys of the model, says it;
// `sections` are further top-level keys.
PlannedScenario small_scenario(const std::string& sections, const std::string& train = "clip_norm: 1.0",
                               const std::string& cluster = "{device: cpu, ranks: 2}",
                               const std::string& model = "dropout: 0");

Device device_of(const PlannedScenario& planned);

}  // namespace shardlab::test
