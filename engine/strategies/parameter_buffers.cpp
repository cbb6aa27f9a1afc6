#include "engine/strategies/parameter_buffers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace shardlab {

Buffer unit_buffer(const StepBuilder& builder, UnitId unit, std::string_view prefix, BufferClass buffer_class,
                   BufferLayout layout, DType dtype, int shards, StreamId stream, int alignment) {
  return unit_buffer(builder, unit, builder.partition().unit(unit).parameters, prefix, buffer_class, layout,
                     dtype, shards, stream, alignment);
}

Buffer unit_buffer(const StepBuilder& builder, UnitId unit, std::vector<ParameterId> parameters,
                   std::string_view prefix, BufferClass buffer_class, BufferLayout layout, DType dtype,
                   int shards, StreamId stream, int alignment) {
  Buffer buffer;
  buffer.name = fmt::format("{}.{}", prefix, builder.partition().unit(unit).name);
  buffer.buffer_class = buffer_class;
  buffer.dtype = dtype;
  buffer.elements = elements_of(make_layout(builder.graph(), parameters, shards, alignment), layout);
  buffer.stream = stream;
  buffer.layout = layout;
  buffer.parameters = std::move(parameters);
  if (layout != BufferLayout::parameters) buffer.shards = shards;
  buffer.alignment = alignment;
  buffer.unit = unit;
  return buffer;
}

std::vector<ParameterId> parameters_with_gradients(const StepBuilder& builder, UnitId unit) {
  const std::vector<ParameterId>& all = builder.partition().unit(unit).parameters;
  std::vector<ParameterId> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [&](ParameterId id) { return builder.graph().parameter(id).requires_grad; });
  return some;
}

void emit_initialize(StepBuilder& builder, BufferId buffer, std::optional<UnitId> unit) {
  Instruction instruction;
  instruction.kind = InstructionKind::Initialize;
  instruction.unit = unit;
  instruction.bytes = builder.plan().buffer(buffer).bytes();
  instruction.writes = {buffer};
  instruction.allocates = {buffer};
  builder.emit(std::move(instruction));
}

BufferId declare_persistent_buffer(StepBuilder& builder, Buffer buffer) {
  const std::optional<UnitId> unit = buffer.unit;
  if (builder.plan().phase != PlanPhase::setup) return builder.declare_carried(std::move(buffer));
  const BufferId id = builder.declare(std::move(buffer));
  emit_initialize(builder, id, unit);
  return id;
}

BufferId declare_ignored_unit(StepBuilder& builder, UnitId unit) {
  return declare_persistent_buffer(
      builder,
      unit_buffer(builder, unit, "param", BufferClass::parameter, BufferLayout::parameters,
                  builder.partition().unit(unit).settings.precision.param, 1, StepBuilder::compute()));
}

Instruction make_copy(StepBuilder& builder, UnitId unit, std::vector<BufferId> from,
                      std::vector<BufferId> to) {
  const StepPlan& plan = builder.plan();
  const bool exact = plan.buffer(from.front()).dtype == plan.buffer(to.front()).dtype;
  Instruction copy;
  copy.kind = exact ? InstructionKind::Copy : InstructionKind::Cast;
  copy.unit = unit;
  for (const BufferId written : to) copy.bytes += plan.buffer(written).bytes();
  copy.reads = std::move(from);
  copy.writes = std::move(to);
  return copy;
}

std::vector<UnitId> units_after(const std::vector<UnitId>& order, UnitId unit, int depth) {
  auto next = std::find(order.begin(), order.end(), unit);
  std::vector<UnitId> units;
  while (depth-- > 0 && next != order.end() && ++next != order.end()) units.push_back(*next);
  return units;
}

InstructionId emit_all_reduce(StepBuilder& builder, UnitId unit, GroupId group, BufferId buffer,
                              StreamId stream) {
  Instruction reduce;
  reduce.kind = InstructionKind::AllReduce;
  reduce.stream = stream;
  reduce.unit = unit;
  reduce.group = group;
  reduce.reduce = ReduceOperation::average;
  reduce.bytes = builder.plan().buffer(buffer).bytes();
  reduce.reads = reduce.writes = {buffer};
  return builder.emit(std::move(reduce));
}

}  // namespace shardlab
