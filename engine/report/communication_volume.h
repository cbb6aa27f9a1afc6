// How much a step communicates, in units of the model.
#pragma once

#include <optional>

#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// The volume of the steady step; none when no collective of it moves parameters or gradients.
std::optional<CommunicationVolume> communication_volume(const PlannedScenario& planned);

// What the volume tends to with many ranks, when padding and the outermost unit, which is not gathered again
// for backward, no longer matter: DDP 2, a step that shards gradients 2, one that shards parameters too 3,
// and so on with the number of micro-batches. None for settings that such a rule does not cover.
std::optional<double> volume_limit(const Scenario& scenario);

}  // namespace shardlab
