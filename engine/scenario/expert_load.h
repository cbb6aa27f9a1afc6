// How tokens spread over experts in a prediction, as model.moe says it.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

struct MoeLoad;  // model_spec.h

// "balanced", "[0.5,0.25,0.25]": for messages.
std::string to_text(const MoeLoad& load);

// The share of each expert, adding up to 1: one list for all layers where the scenario has a list, one a
// layer with experts from a recorded file; none for the loads that need none. A file is JSON, as `run
// --save-load` writes it: {"layers": [{"module": "model.layers.0.mlp.experts", "assignments": [12, 0, ...]},
// ...]}. A file that cannot be read or is of another form is bad_input, at the file.
Result<std::vector<std::vector<double>>> expert_shares(const Scenario& scenario);

// Do they fit the model: a share for each expert, a list for each layer, no expert with more than one
// assignment a token? If not it is bad_input, at model.moe.load.
Status check_expert_shares(const ModelGraph& graph);

}  // namespace shardlab
