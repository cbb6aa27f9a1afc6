// How much a step communicates, in units of the model.
#pragma once

#include <optional>

#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// What a step of all ranks sends of parameters and gradients, in elements, and the elements that the model
// has on all ranks.
struct SentElements {
  double sent = 0, of_model = 0;
};
SentElements sent_elements(const PlannedScenario& planned);

// None where one of the two is zero.
std::optional<CommunicationVolume> volume_of(const SentElements& elements, std::optional<double> limit);

// The volume of the steady step; none when no collective of it moves parameters or gradients.
std::optional<CommunicationVolume> communication_volume(const PlannedScenario& planned);

// What the volume tends to with many ranks, as the strategy says (engine/strategies/volume_rules.h):
// replicated 2, a step that shards gradients 2, one that shards parameters too 3, and so on with the number
// of micro-batches. None for settings that such a rule does not cover, and for models of which a part is
// trained or gathered differently.
std::optional<double> volume_limit(const Scenario& scenario);

}  // namespace shardlab
