// From remedies that findings name to fixes that help, with their effect.
#pragma once

#include <vector>

#include "engine/doctor/finding.h"
#include "simulator/remedies/trials.h"

namespace shardlab {

// Each finding with a goal gets the settings that reach it as its fix, and their predicted effect:
//
// - fit: settings_that_fit() of its own remedies; where it takes all, of those of all findings and of the
//   settings that `explain memory` proposes (shared_remedies.h);
// - speed: the level with which most tokens are processed a second, of those that leave as much room.
//
// What does not help is dropped, and with it the finding where it needs a fix. A warning about time stays one
// only where the gain is 10 % or more. Of several findings with the same fix the first alone is above info.
void try_remedies(std::vector<Finding>& findings, Trials& trials);

}  // namespace shardlab
