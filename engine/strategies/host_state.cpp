#include "engine/strategies/host_state.h"

#include <utility>

#include "engine/scenario/offload_spec.h"

namespace shardlab {

HostState add_host_state(StepBuilder& builder, const Scenario& scenario) {
  return {builder.add_stream("host"),
          scenario.offload->pin ? MemorySpace::pinned_host : MemorySpace::pageable_host};
}

std::optional<HostState> add_optimizer_host(StepBuilder& builder, const Scenario& scenario) {
  if (scenario.offload->optimizer == OffloadTarget::none) return std::nullopt;
  return add_host_state(builder, scenario);
}

void place_on_host(Buffer& buffer, const HostState& host) {
  buffer.space = host.space;
  buffer.stream = host.stream;
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
