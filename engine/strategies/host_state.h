// What strategies have in common that keep state in host memory: where it lies, and the instructions that
// move it.
#pragma once

#include <optional>

#include "engine/scenario/scenario.h"
#include "engine/strategies/step_builder.h"

namespace shardlab {

// The host's side of a plan, where anything is offloaded.
struct HostState {
  StreamId stream;                               // the stream of what processors do
  MemorySpace space = MemorySpace::pinned_host;  // where devices copy to and from: offload.pin
  bool pinned() const { return space == MemorySpace::pinned_host; }
};

// Adds the stream "host".
HostState add_host_state(StepBuilder& builder, const Scenario& scenario);
// The same where the optimizer's state lies in host memory.
std::optional<HostState> add_optimizer_host(StepBuilder& builder, const Scenario& scenario);

// The buffer lies where devices copy to and from.
void place_on_host(Buffer& buffer, const HostState& host);

// The host goes on when the instruction is done.
InstructionId emit_host_wait(StepBuilder& builder, StreamId stream, InstructionId awaited);

// A copy between memory spaces, on a device's stream; `to` is allocated unless it is alive. Both have the
// same dtype. To or from pageable memory the host waits for it (cudaMemcpyAsync stages such memory itself).
InstructionId emit_transfer(StepBuilder& builder, std::optional<UnitId> unit, BufferId from, BufferId to,
                            StreamId stream);

}  // namespace shardlab
