// In which order the gradients of a model become ready.
#pragma once

#include <span>
#include <vector>

#include "engine/model/model_graph.h"

namespace shardlab {

// By ParameterId: the operator whose backward, the last that adds to it, makes the gradient ready; one past
// the last operator for a parameter that none uses.
std::vector<OperatorId> completing_operators(const ModelGraph& graph);

// Those that have gradients, in the order of definition.
std::vector<ParameterId> parameters_with_gradients(const ModelGraph& graph);

// The others: frozen ones.
std::vector<ParameterId> parameters_without_gradients(const ModelGraph& graph);

// Those with gradients in the order in which backward completes them; those of one operator in the order of
// definition.
std::vector<ParameterId> arrival_order(const ModelGraph& graph);
// The same where `ready`, by ParameterId, tells when.
std::vector<ParameterId> arrival_order(const ModelGraph& graph, std::span<const OperatorId> ready);

}  // namespace shardlab
