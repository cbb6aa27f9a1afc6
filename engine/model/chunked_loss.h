// A chunked loss as a graph pass: head and cross-entropy become one operator that never makes all logits.
#pragma once

#include "engine/base/result.h"
#include "engine/model/choices.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Before the graph is cut and its parameters are frozen. `chunks` parts, as many as the tokens or the
// vocabulary allow. Errors: a model that does something between its head and its loss.
Status chunk_loss(ModelGraph& graph, LossChunks over, int chunks);

}  // namespace shardlab
