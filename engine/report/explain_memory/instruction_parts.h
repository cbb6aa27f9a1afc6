// What lies in memory only while the instruction at the peak runs: what it has made by then and not freed,
// and what was there before and it will free.
#pragma once

#include <array>
#include <vector>

#include "engine/report/explain_memory/memory_part.h"
#include "engine/report/explain_memory/peak_context.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

using PartsByClass = std::array<std::vector<MemoryPart>, k_buffer_classes>;

// A segment's instruction is followed step by step through its program to where it needs most, as predictions
// are made. `workspaces`: how many threads take an operator's workspace at once; 0 where none is counted.
PartsByClass instruction_parts(const PeakContext& context, InstructionId id, int workspaces);

}  // namespace shardlab
