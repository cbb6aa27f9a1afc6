// The operators that compute a loss, and the loss in parts.
#pragma once

#include "engine/base/result.h"
#include "engine/model/choices.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Which operators of a graph are the loss. A training loop computes it from what the model returned, so it
// runs outside of the forward of every module, the root's too: hooks at the end of a module's forward come
// before it.

// Makes the loss or a part of it, without parameters. A chunked loss is part of the head's module.
bool makes_loss(const ModelGraph& graph, const Operator& op);

// The first of the operators at the end of the graph that make the loss; where none does (a chunked loss),
// one past the last operator.
OperatorId first_loss_operator(const ModelGraph& graph);

// A chunked loss as a graph pass: head and cross-entropy become one operator that never makes all logits.

// Before the graph is cut and its parameters are frozen. `chunks` parts, as many as the tokens or the
// vocabulary allow. Errors: a model that does something between its head and its loss.
Status chunk_loss(ModelGraph& graph, LossChunks over, int chunks);

}  // namespace shardlab
