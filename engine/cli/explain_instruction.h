// `plan --explain N`: one instruction in words.
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "engine/plan/planned_scenario.h"
#include "engine/scenario/source.h"

namespace shardlab {

// Which instruction of which plan, and whose groups are shown.
struct ExplainedInstruction {
  const PlannedScenario& planned;
  const ScenarioSource& source;
  const StepPlan& step;
  InstructionId id;  // of `step`
  int rank = 0;
};

// Text for people, ending with a newline.
std::string explain_instruction(const ExplainedInstruction& explained);

// The same facts as the element of docs/json.md's `plan.explanation`.
Json explanation_json(const ExplainedInstruction& explained);

}  // namespace shardlab
