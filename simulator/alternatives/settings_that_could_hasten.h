// Settings that could make a step faster, those that are not set so already and mean something under the
// scenario's strategy. Whether the rest of the scenario allows one, and whether it helps, is found by
// predicting it.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"

namespace shardlab {

struct SettingsToTry {
  std::vector<std::string> settings;  // as for --set, together
  std::string effect;                 // in words, for a table
  bool comparison = false;            // our operators (settings_to_try.h)
};

// Those of them that are about a distillation's teacher.
std::vector<SettingsToTry> teacher_settings_that_could_hasten(const PlannedScenario& planned);

std::vector<SettingsToTry> settings_that_could_hasten(const PlannedScenario& planned);

}  // namespace shardlab
