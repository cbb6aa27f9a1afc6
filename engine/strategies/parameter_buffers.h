// What the hook machines of several strategies have in common: buffers made of parameters of a unit, and
// steps.
#pragma once

#include <string_view>
#include <vector>

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

// The values of `from` in buffers of another layout or dtype, on compute: a Cast where the dtype differs. It
// writes all bytes of `to`, which it does not allocate.
Instruction make_copy(StepBuilder& builder, UnitId unit, std::vector<BufferId> from,
                      std::vector<BufferId> to);

// Up to `depth` units after this one: what is gathered ahead of it.
std::vector<UnitId> units_after(const std::vector<UnitId>& order, UnitId unit, int depth);

// The average over a group, in place.
InstructionId emit_all_reduce(StepBuilder& builder, UnitId unit, GroupId group, BufferId buffer,
                              StreamId stream);

}  // namespace shardlab
