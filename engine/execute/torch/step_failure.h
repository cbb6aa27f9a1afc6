// What both runners make of an exception in a step, and how they decide whether an instruction is skipped.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "engine/execute/torch/memory/memory_ledger.h"
#include "engine/execute/torch/prepared_plan.h"
#include "engine/trace/out_of_memory.h"

namespace shardlab {

// run_failed with `where` = "rank 1, step 4, 37 AllGather u2". When memory was what was missing, its figures
// are left in `step.out_of_memory`.
Error step_failure(const RunState& run, const StepPlan& plan, InstructionId at, StepContext& step,
                   const MemoryLedger& ledger, const std::exception& error);

// Whether memory was what was missing, here or in the work of a device that failed for it.
bool is_out_of_memory(const std::exception& error);

// Reads the instruction's flag, on a device by waiting for it, as torch.amp.GradScaler does (2.11).
bool is_skipped(const RunState& run, const PreparedInstruction& instruction, StepContext& step);

// Messages of libtorch's exceptions, without the call stack that follows the first line.
inline std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace shardlab
