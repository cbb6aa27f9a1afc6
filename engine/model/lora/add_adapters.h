// Low-rank adapters on linear layers, as a graph pass: y = x W^T + alpha / rank * (x A^T) B^T.
//
// Source: peft 0.21, tuners/lora/layer.py (Linear) and utils/other.py
// (ModulesToSaveWrapper). Modules, their classes and order, names and shapes of parameters are those of a
// model into which peft has injected the adapter "default"; paths have no "base_model.model." before them, as
// after inject_adapter_in_model. A begins uniform in +-1 / sqrt(inputs), B as zeros. Adapters are stored in
// the dtype of their layer (autocast_adapter_dtype=False). In an eager graph they compute step by step.
#pragma once

#include "engine/base/result.h"
#include "engine/model/lora/lora_spec.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// Everything but the adapters and `modules_to_save` is frozen. A target is the path of a linear layer, the
// last names of it, a pattern (base/path_pattern.h), or "all-linear": all but the head. A module to save is
// one whose path ends so; its original stays, frozen and unused, beside the copy that is trained.
//
// Errors: a name that fits nothing, a target that is no linear layer, a module to save with modules inside,
// or with a tied parameter. A rank of 0 gives the graph back as it is.
Result<ModelGraph> add_adapters(ModelGraph graph, const LoraSpec& spec);

// Whether a graph has any.
bool has_adapters(const ModelGraph& graph);

}  // namespace shardlab
