// A prediction's memory, explained: the sum up to the device, the rows of its peak, what would lower it, and
// what other tools say.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/explain_memory/memory_rows.h"
#include "engine/report/explain_memory/memory_saving.h"
#include "engine/report/explain_memory/memory_sum.h"
#include "engine/report/other_tools/other_tools.h"
#include "engine/report/terminal.h"

namespace shardlab {

struct ExplainedMemory {
  std::string scenario;
  std::string peak_words;  // "backward of the head"
  std::string peak_label;
  InstructionId peak_instruction;
  int peak_rank = 0;
  Nanoseconds step_time;
  double tokens_per_second = 0;
  MemorySum sum;
  std::vector<MemoryRow> rows;  // add up to the first line of the sum
  Bytes model_states;           // of them parameters, gradients and the optimizer's state
  std::vector<MemorySaving> savings;
  std::vector<ToolAnswer> tools;
};

// `run` is the prediction of `planned` and has a memory, `plan` the plan of the step in which its peak is.
// The rows name the savings that shrink them. Pure.
ExplainedMemory explain_memory(const PlannedScenario& planned, const StepPlan& plan, const RunSummary& run,
                               std::vector<MemorySaving> savings);

std::string explained_memory_text(const ExplainedMemory& memory, const TextStyle& style);
nlohmann::ordered_json explained_memory_json(const ExplainedMemory& memory);

}  // namespace shardlab
