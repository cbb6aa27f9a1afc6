// Frozen parameters: who is trained, and through which tensors gradients must flow for that.
#pragma once

#include <span>
#include <string>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Freezes the parameters that a pattern (base/path_pattern.h) names by their own path or by the path of a
// module around them; a tied parameter has the path of each owner. Refuses a pattern that names nothing, and
// a model of which nothing is left to train (bad_input).
Status freeze_parameters(ModelGraph& graph, std::span<const std::string> patterns);

// Lets gradients flow wherever a trained parameter needs them: a tensor requires a gradient when an operator
// made it from an input or a parameter that does.
void derive_requires_grad(ModelGraph& graph);

// A unit whose parameters are views of one flat parameter has a gradient for all of them or for none: with
// one trainable parameter in it, backward computes the gradients of its frozen ones too, and what lies
// upstream of them. `unit_of_parameter` is by ParameterId. Returns whether the graph changed. Source:
// torch 2.11, distributed/fsdp/_flat_param.py, use_orig_params=True.
bool require_gradients_by_unit(ModelGraph& graph, std::span<const UnitId> unit_of_parameter);

}  // namespace shardlab
