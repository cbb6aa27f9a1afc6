// The rows of memory_overheads(), one function a library. Private to this folder.
#pragma once

#include <vector>

#include "engine/hardware/device.h"
#include "simulator/memory/overheads/communicators.h"
#include "simulator/memory/overheads/memory_overheads.h"

namespace shardlab {

using Overheads = std::vector<MemoryOverhead>;

Overheads context_overheads(const Device& device, const RuntimeMemory& runtime);
Overheads cublas_overheads(const PlannedScenario& planned, const Device& device,
                           const RuntimeMemory& runtime);
// The library's own and a row a communicator. A program in Python makes a group of one rank too, which has no
// connections.
Overheads communication_overheads(const PlannedScenario& planned,
                                  const std::vector<PlannedCommunicator>& communicators, const Device& device,
                                  const RuntimeMemory& runtime);
// What they keep in host memory, of a rank.
Bytes nccl_host_bytes(const std::vector<PlannedCommunicator>& communicators, const Device& device,
                      const RuntimeMemory& runtime);
Overheads host_overheads(const PlannedScenario& planned,
                         const std::vector<PlannedCommunicator>& communicators, const Device& device,
                         const RuntimeMemory& runtime);

}  // namespace shardlab
