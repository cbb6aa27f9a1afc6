// What the operators of a model take at least, one micro-batch, before anything is planned.
#pragma once

#include "engine/base/units.h"
#include "engine/model/model_graph.h"
#include "engine/scenario/scenario.h"
#include "simulator/cost/coefficients.h"

namespace shardlab {

struct GraphBounds {
  // Forward, backward, and what checkpoints compute again: alone on the device, or what the host takes to
  // launch it where that is longer.
  double nanoseconds = 0;
  Bytes saved;  // tensors that forward keeps for backward; all are alive when it ends
};

// Sums over the operators as every program of the model has them, whatever its units. `graph` as
// load_model_graph() makes it.
GraphBounds graph_bounds(const Scenario& scenario, const ModelGraph& graph,
                         const CostCoefficients& coefficients);

}  // namespace shardlab
