// What the hook machines of several strategies have in common.
#pragma once

#include <vector>

#include "engine/strategies/step_builder.h"

namespace shardlab {

// Up to `depth` units after this one: what is gathered ahead of it.
std::vector<UnitId> units_after(const std::vector<UnitId>& order, UnitId unit, int depth);

// The average over a group, in place.
InstructionId emit_all_reduce(StepBuilder& builder, UnitId unit, GroupId group, BufferId buffer,
                              StreamId stream);

}  // namespace shardlab
