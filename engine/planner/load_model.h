// The model that a scenario describes, as a graph: before units, precision and strategy.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Reads the config.json that `model.config` names and applies what the scenario says about the model:
// experts' load, adapters, loss, frozen parameters. bad_input at the key that does not fit this model or its
// file.
Result<ModelGraph> load_model_graph(const Scenario& scenario);

}  // namespace shardlab
