#include <algorithm>

#include "engine/report/explain_memory/explained_memory.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {
namespace {

bool shrinks(const MemorySaving& saving, const std::string& what) {
  return std::find(saving.shrinks.begin(), saving.shrinks.end(), what) != saving.shrinks.end();
}

bool is_model_state(BufferClass its) {
  switch (its) {
    case BufferClass::parameter:
    case BufferClass::parameter_shard:
    case BufferClass::gradient:
    case BufferClass::gradient_shard:
    case BufferClass::optimizer_state: return true;
    default: return false;
  }
}

}  // namespace

ExplainedMemory explain_memory(const PlannedScenario& planned, const StepPlan& plan, const RunSummary& run,
                               std::vector<MemorySaving> savings) {
  ExplainedMemory explained;
  const MemorySummary& memory = *run.memory;
  explained.scenario = planned.scenario.name;
  explained.peak_words = PlanWords(plan).instruction(memory.peak_instruction);
  explained.peak_label = memory.peak_label;
  explained.peak_instruction = memory.peak_instruction;
  explained.peak_rank = memory.peak_rank;
  explained.step_time = run.step_time.median;
  explained.tokens_per_second = run.tokens_per_second;
  explained.sum = memory_sum(run);
  explained.rows = memory_rows(planned, plan, memory);
  for (std::size_t i = 0; i < k_buffer_classes; ++i)
    if (is_model_state(static_cast<BufferClass>(i))) explained.model_states += memory.by_class[i];
  for (MemoryRow& row : explained.rows)
    for (const MemorySaving& saving : savings)
      if (shrinks(saving, row.alive.what)) row.settings.push_back(saving.setting);
  explained.savings = std::move(savings);
  explained.tools = other_tools(planned);
  return explained;
}

}  // namespace shardlab
