// When ZeRO-3 reduces gradients: each as it is complete, those of a leaf module with the end of its backward.
//
// Source: DeepSpeed 0.19.8, runtime/zero/stage3.py (create_reduce_and_remove_grad_hooks,
// reduce_leaf_module_grads): a full backward hook of the leaf reduces what is below it, in the order of
// definition, whatever of it is there.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "engine/strategies/zero3/module_reads.h"

namespace shardlab {

// By ParameterId: the operator whose backward is the last before the gradient is reduced.
std::vector<OperatorId> reducing_operators(const ModelGraph& graph, const Partition& partition,
                                           const ModuleReads& reads);

// Refuses leaves whose hook comes before the gradients. Where no input of the leaf requires one, and where it
// is called with keywords alone, as transformers calls attention (torch's hook sees positional inputs),
// DeepSpeed fails in the first backward: "The size of tensor a (0) must match the size of tensor b". Where a
// parameter of it is used outside as well, the rest of its gradient counts as long as the bucket was not
// reduced.
Status check_leaf_gradients(const Scenario& scenario, const ModelGraph& graph, const Partition& partition);

}  // namespace shardlab
