#include "engine/strategies/shared_steps.h"

#include <algorithm>

namespace shardlab {

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
