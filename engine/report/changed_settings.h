// What the runs of a list changed, one after the other.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/report/setting_differences.h"

namespace shardlab {

// What a run's scenario changed.
using ChangedSettings = std::vector<SettingDifference>;  // `second` is the run's own

// For each of a list of runs, newest first, what differs from the next older run of the same name in it; none
// for the oldest of a name, and where a scenario cannot be read now. ScenarioText::name is that of the run.
std::vector<ChangedSettings> changed_settings(std::span<const ScenarioText> newest_first);

// "train.sync=every, cluster.nodes=4"; `whole_keys` false: "sync=every, nodes=4".
std::string changed_text(const ChangedSettings& changed, bool whole_keys);

}  // namespace shardlab
