// Which operators of a graph are the loss. A training loop computes it from what the model returned, so it
// runs outside of the forward of every module, the root's too: hooks at the end of a module's forward come
// before it.
#pragma once

#include "engine/model/model_graph.h"

namespace shardlab {

// Makes the loss or a part of it, without parameters. A chunked loss is part of the head's module.
bool makes_loss(const ModelGraph& graph, const Operator& op);

// The first of the operators at the end of the graph that make the loss; where none does (a chunked loss),
// one past the last operator.
OperatorId first_loss_operator(const ModelGraph& graph);

}  // namespace shardlab
