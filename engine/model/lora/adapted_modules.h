// Which modules of a graph get adapters or are trained beside them. Private to this folder.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/model/lora/lora_spec.h"
#include "engine/model/model_graph.h"

namespace shardlab {

enum class Adaptation : std::uint8_t { none, adapter, saved };

// What becomes of each module, by ModuleId. Fails with bad_input, named by the key of model.lora that names
// no module or one that takes no adapter.
Result<std::vector<Adaptation>> adapted_modules(const ModelGraph& graph, const LoraSpec& spec);

}  // namespace shardlab
