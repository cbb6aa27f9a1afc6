// Declarations shared by strategies: a buffer made of parameters of a unit.
#pragma once

#include <string_view>

#include "engine/plan/layout.h"
#include "engine/strategies/step_builder.h"

namespace shardlab {

// "<prefix>.<unit>" with all parameters of the unit, laid out over `shards` ranks.
Buffer unit_buffer(const StepBuilder& builder, UnitId unit, std::string_view prefix, BufferClass buffer_class,
                   BufferLayout layout, DType dtype, int shards, StreamId stream, int alignment = 1);

// The same with some of the unit's parameters.
Buffer unit_buffer(const StepBuilder& builder, UnitId unit, std::vector<ParameterId> parameters,
                   std::string_view prefix, BufferClass buffer_class, BufferLayout layout, DType dtype,
                   int shards, StreamId stream, int alignment = 1);

// Those of a unit that have gradients, in the unit's order.
std::vector<ParameterId> parameters_with_gradients(const StepBuilder& builder, UnitId unit);

// Setup: allocates and fills a buffer that lives across steps.
void emit_initialize(StepBuilder& builder, BufferId buffer, std::optional<UnitId> unit);

// Declares a persistent buffer: carried into a step, or allocated and filled when the plan is the setup.
BufferId declare_persistent_buffer(StepBuilder& builder, Buffer buffer);

// The parameters of an ignored unit: whole on every rank, in the stored dtype.
BufferId declare_ignored_unit(StepBuilder& builder, UnitId unit);

}  // namespace shardlab
