// What libraries take on a GPU and its host beside the tensors of a run: CUDA's context, cuBLAS's workspaces,
// NCCL's buffers, the processes.
//
// Computed from the plan, the device and constants of the libraries (assets/hardware/runtime.yaml); each row
// says its formula and source. Nothing for processors. Not modelled: data loading, what other libraries load
// (cuDNN, compilers), registered user buffers.
#pragma once

#include <vector>

#include "engine/base/ids.h"
#include "engine/hardware/runtime_memory.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/memory_overhead.h"

namespace shardlab {

struct Device;  // engine/hardware/device.h

// Rows of the same place add up. `device` and `allocator` are of the rank with most, `host` of a node.
std::vector<MemoryOverhead> memory_overheads(const PlannedScenario& planned, const Device& device,
                                             const RuntimeMemory& runtime);

// An allocation that a library makes through torch's caching allocator at its first use of a stream and
// keeps: `count` of them, `bytes` each. The stream is one of the steady plan's.
struct LibraryAllocation {
  Bytes bytes;
  StreamId stream;
  int count = 0;

  friend bool operator==(const LibraryAllocation&, const LibraryAllocation&) = default;
};

// What the rows with place `allocator` are made of, by stream.
std::vector<LibraryAllocation> library_allocations(const PlannedScenario& planned, const Device& device,
                                                   const RuntimeMemory& runtime);

}  // namespace shardlab
