// The knobs that a search turns by itself: those that leave the mathematics of the training alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"
#include "simulator/search/question/search_question.h"

namespace shardlab {

// The strategy with its ways of resharding, prefetching and replicating over nodes, activation checkpointing
// (of all that a layer makes, or of all but its products), the chunked loss, when gradients are reduced,
// micro-batches (powers of two that divide the global batch, up to 64), and, where nothing is offered, how
// many of the scenario's own GPUs are used. What the scenario says is always among the choices. Wrap
// policies, offload and compilation stay as the scenario has them. `offered`: numbers of nodes. Errors: those
// of base_tree().
Result<std::vector<Knob>> default_knobs(const BaseScenario& base, std::optional<std::int64_t> global_batch,
                                        const std::vector<int>& offered);

// The first of these (default_parallel.cpp). `nodes`: how many there may be; empty where they are not known.
Knob parallel_knob(const YamlNode& tree, const BaseScenario& base, const std::vector<int>& nodes);

// What is turned besides where nothing fits: parameters and optimizer states in host memory.
Knob offload_knob();

// The tree of the base scenario with its overrides applied. bad_input for a text that is no YAML and
// for an override that cannot be applied.
Result<YamlNode> base_tree(const BaseScenario& base);

}  // namespace shardlab
