// What is known of a job by its scenario: what it says, what is planned, what is predicted, what was
// measured.
//
// Owns nothing: what it points to must live as long as it. What a plan or a prediction can tell is asked of
// them, never guessed from what the scenario says.
#pragma once

#include "engine/hardware/device.h"
#include "engine/plan/planned_scenario.h"
#include "engine/scenario/source.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab {

struct JobFacts {
  const Scenario* scenario = nullptr;  // never null, like the next two
  const ScenarioSource* source = nullptr;
  const Device* device = nullptr;
  const PlannedScenario* planned = nullptr;
  const RunSummary* predicted = nullptr;  // of `planned`; the next is the trace it comes from
  const RunTrace* trace = nullptr;
  const RunSummary* measured = nullptr;  // of a stored run that was measured; the next is its trace
  const RunTrace* measured_trace = nullptr;
};

}  // namespace shardlab
