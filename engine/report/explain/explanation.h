// One instruction of a plan in words: what it does, why it is there, who decided it, what it waits for and
// why.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/plan/planned_scenario.h"
#include "engine/scenario/setting_view.h"

namespace shardlab {

struct ExplainedWait {
  InstructionId instruction;
  std::string why;  // "it writes gathered.u1, which this reads"
};

struct Explanation {
  std::string purpose;  // what instructions of this kind do
  std::string reason;   // why this one is here; empty for an unknown strategy
  std::vector<SettingView> decided_by;
  std::string pass;       // who put it there
  std::string pass_does;  // and what that is
  std::optional<InstructionId> previous_on_stream;
  std::optional<InstructionId> previous_in_group;  // of a collective, where it is on another stream
  std::vector<ExplainedWait> waits;
  std::vector<InstructionId> awaited_by;
  std::vector<InstructionId> read_by;  // later readers of what it writes
};

Explanation explain(const PlannedScenario& planned, const ScenarioSource& source, const StepPlan& step,
                    InstructionId id);

}  // namespace shardlab
