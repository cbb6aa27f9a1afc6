// The rows of the peak with what they are made of, in the scenario's own numbers.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/report/explain_memory/memory_part.h"
#include "engine/report/words/alive_at_peak.h"

namespace shardlab {

struct MemoryRow {
  AliveRow alive;
  std::vector<MemoryPart> parts;      // add up to the row's bytes; the largest first
  std::vector<std::string> settings;  // that would make it smaller and the peak lower (MemorySaving::setting)
};

// The rows of a prediction of `planned` whose peak is in a step with plan `plan`; they add up to the peak.
// Pure.
std::vector<MemoryRow> memory_rows(const PlannedScenario& planned, const StepPlan& plan,
                                   const MemorySummary& memory);

}  // namespace shardlab
