// Mixed precision unit by unit, as a graph pass.
//
// A family builds a graph in one compute dtype. Where units compute in different ones, or cast their outputs,
// this pass gives every operator the dtype of its unit's parameters and puts `cast` operators where PyTorch
// casts: floating-point inputs where execution enters a unit that casts its inputs, outputs where it leaves a
// unit that casts its outputs, and the narrower addend of a sum (type promotion). Sources: torch 2.11,
// fsdp/_fully_shard/_fsdp_state.py (_pre_forward, _post_forward), fsdp/_runtime_utils.py. The loss is
// computed from the model's output, hence outside the root. Constants (rotary tables) keep their dtype.
//
// Under torch.autocast operators compute in the dtypes of its lists instead (OperatorType::autocast): casts
// of activations are operators of their own, one for each use, because autocast caches casts of leaves alone;
// those of parameters belong to the operator (attribute k_parameter_dtype). What is on no list is promoted.
#pragma once

#include <map>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"
#include "engine/model/unit_settings.h"
#include "engine/model/wrap/joined_modules.h"

namespace shardlab {

// `units` by their modules, the root among them; of `joined` modules, which are one unit, by the first. A
// graph in which nothing differs comes back as it is. Errors: an operator whose inputs and parameters have
// different dtypes, where PyTorch fails or silently promotes; under autocast one whose steps would have
// dtypes that its description does not say.
Result<ModelGraph> assign_precision(ModelGraph graph, const std::map<ModuleId, UnitPrecision>& units,
                                    std::span<const JoinedModules> joined = {},
                                    std::optional<DType> autocast = {});

}  // namespace shardlab
