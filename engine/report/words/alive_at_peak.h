// What is alive in words: when a step needs most memory, in rows that add up to the peak, to the byte; and
// after any instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/step_plan.h"
#include "engine/report/terminal.h"
#include "engine/report/words/plan_words.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

struct AliveRow {
  Bytes bytes;
  std::string what;  // "saved activations of 31 layers"
  BufferClass buffer_class = BufferClass::workspace;
  std::int64_t buffers = 0;                 // of the plan; 0: within the instruction at the peak
  std::optional<InstructionId> since = {};  // that made the first of them; absent: alive before the step
  std::string since_words;                  // "forward of layer 0 to forward of layer 30"
  std::vector<BufferId> members = {};       // the buffers
  MemorySpace space = MemorySpace::device;
};

// The largest first, equal ones in the order of the plan; alike buffers of several layers or micro-batches
// are one row. `plan` is that of the step
// in which the peak is. What the instruction at the peak makes or gives back while it runs is a row by class:
// the peak's bytes of that class less those of the buffers that lie there all the time. Such a row is
// negative where a run had less than its plan says.
std::vector<AliveRow> alive_at_peak(const StepPlan& plan, const MemorySummary& memory);

// The buffers alive after an instruction, in every memory space; the rows of a space add up to its
// live_bytes_after(). Ordered and added up like those of the peak; no row is of two spaces. `words` are those
// of the plan.
std::vector<AliveRow> alive_after(const StepPlan& plan, const PlanWords& words, InstructionId id);

// With a heading that says when; ends with the sum.
std::string alive_table(const StepPlan& plan, const MemorySummary& memory, const TextStyle& style);

}  // namespace shardlab
