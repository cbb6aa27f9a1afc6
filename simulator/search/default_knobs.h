// The knobs that a search turns by itself: those that leave the mathematics of the training alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/yaml.h"
#include "simulator/search/search_question.h"

namespace shardlab {

// The strategy with its ways of resharding, activation checkpointing, the chunked loss, when gradients are
// reduced, and micro-batches (powers of two that divide the global batch, up to 64). What the scenario says
// is always among the choices. Wrap policies, prefetching, offload, compilation and the mesh stay as the
// scenario has them. Errors: those of base_tree().
Result<std::vector<Knob>> default_knobs(const BaseScenario& base, std::optional<std::int64_t> global_batch);

// The tree of the base scenario with its overrides applied. bad_input for a text that is no YAML and
// for an override that cannot be applied.
Result<YamlNode> base_tree(const BaseScenario& base);

}  // namespace shardlab
