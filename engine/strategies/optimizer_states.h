// The states that an optimizer keeps of a unit: how long they are, in which dtype, and where they lie.
//
// Source: torch 2.11, torch/optim (states are made with zeros_like(), which does not pin); bitsandbytes
// 0.50.2, optim/optimizer.py (get_state_buffer: which are paged).
#pragma once

#include <vector>

#include "engine/plan/optimizer_rule.h"
#include "engine/strategies/step_builder.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

// Declares a buffer a state, and one for the scales of a state in eight bits. They lie beside what they
// belong to, or where its driver moves them; on the host in pageable memory.
std::vector<BufferId> declare_states(StepBuilder& builder, const TrainedState& trained,
                                     const TrainedUnit& unit, const OptimizerRule& rule);

}  // namespace shardlab
