#include "engine/strategies/host_state.h"

#include <utility>

#include "engine/scenario/offload_spec.h"

namespace shardlab {

HostState add_host_state(StepBuilder& builder, const Scenario& scenario) {
  return {builder.add_stream("host"),
          scenario.offload->pin ? MemorySpace::pinned_host : MemorySpace::pageable_host};
}

InstructionId emit_host_wait(StepBuilder& builder, StreamId stream, InstructionId awaited) {
  Instruction wait;
  wait.kind = InstructionKind::HostWait;
  wait.stream = stream;
  wait.waits = {awaited};
  return builder.emit(std::move(wait));
}

InstructionId emit_transfer(StepBuilder& builder, std::optional<UnitId> unit, BufferId from, BufferId to,
                            StreamId stream) {
  Instruction copy;
  copy.kind = InstructionKind::Copy;
  copy.stream = stream;
  copy.unit = unit;
  copy.bytes = builder.plan().buffer(to).bytes();
  copy.reads = {from};
  copy.writes = {to};
  if (!builder.is_live(to)) copy.allocates = {to};
  return builder.emit(std::move(copy));
}

}  // namespace shardlab
