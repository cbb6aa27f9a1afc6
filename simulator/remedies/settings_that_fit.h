// The settings that make a scenario fit for the least time.
#pragma once

#include <optional>
#include <vector>

#include "engine/doctor/remedy.h"
#include "simulator/remedies/trials.h"

namespace shardlab {

struct FittingSettings {
  Settings settings;
  const RunSummary* run = nullptr;  // the prediction with them
};

// Every remedy is predicted alone; what helps is ordered by the time that it costs. Of those after which the
// scenario fits with room to spare (job/room.h) the one that costs least is taken, and several together, the
// cheapest first, where that takes considerably less time. Fewer bits are tried only where these do not
// suffice, and host memory where it does not fit at all without. What turns out not to be needed is left out.
//
// Where nothing gives that much room, the settings that need least, if that is less than before; nothing
// where no remedy helps.
std::optional<FittingSettings> settings_that_fit(Trials& trials, std::vector<Remedy> remedies);

}  // namespace shardlab
