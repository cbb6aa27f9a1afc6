// The cheapest settings that make a scenario fit.
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

// Remedies are tried in the order of their steps: each alone, the mildest level first, then with those before
// it, until the scenario fits with room to spare (job/room.h); offload is for what does not fit at all
// without. What turns out not to be needed is left out.
// Where nothing gives that much room, the settings that need least, if that is less than before; nothing
// where no remedy helps.
std::optional<FittingSettings> settings_that_fit(Trials& trials, std::vector<Remedy> remedies);

// The mildest level of one remedy after which there is room, else the one that needs least. Nothing where
// none needs less than before.
std::optional<FittingSettings> best_level(Trials& trials, const Remedy& remedy, const Settings& beside = {});

}  // namespace shardlab
