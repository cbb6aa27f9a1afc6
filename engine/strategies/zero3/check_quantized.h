// What DeepSpeed 0.19.8 fails with where weights are gathered in eight bits.
#pragma once

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Refuses a parameter of which a rank has no multiple of eight elements, or ranks have unlike parts.
Status check_quantized_weights(const Scenario& scenario, const ModelGraph& graph);

}  // namespace shardlab
