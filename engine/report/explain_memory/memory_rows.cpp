#include "engine/report/explain_memory/memory_rows.h"

#include "engine/report/explain_memory/buffer_parts.h"
#include "engine/report/explain_memory/instruction_parts.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab {
namespace {

std::vector<MemoryPart> parts_of(const PeakContext& context, const AliveRow& row,
                                 const PartsByClass& within) {
  if (row.members.empty()) return within[static_cast<std::size_t>(row.buffer_class)];
  PartCollector collector(context);
  for (const BufferId id : row.members) collector.add(id);
  return collector.parts();
}

// What the parts do not tell stands as it is.
void complete(MemoryRow& row) {
  Bytes rest = row.alive.bytes;
  for (const MemoryPart& part : row.parts) rest -= part.bytes();
  if (rest.value != 0) row.parts.push_back({"not told apart", "", {{{{rest.value, "bytes"}}}}});
}

}  // namespace

std::vector<MemoryRow> memory_rows(const PlannedScenario& planned, const StepPlan& plan,
                                   const MemorySummary& memory) {
  std::vector<MemoryRow> rows;
  if (memory.peak_instruction.index() >= plan.instructions.size()) return rows;
  const PeakContext context(planned, plan);
  // Operators' workspace is counted on processors, once a thread (simulator/memory/step_memory.h).
  const PartsByClass within =
      instruction_parts(context, memory.peak_instruction, host_threads(*planned.scenario.cluster));
  for (AliveRow& alive : alive_at_peak(plan, memory)) {
    MemoryRow row{std::move(alive), {}, {}};
    row.parts = parts_of(context, row.alive, within);
    complete(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace shardlab
