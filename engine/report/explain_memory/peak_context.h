// What the rows of a peak are read off, made once.
#pragma once

#include "engine/plan/planned_scenario.h"
#include "engine/report/explain_memory/tensor_words.h"
#include "engine/report/words/plan_words.h"

namespace shardlab {

struct PeakContext {
  PeakContext(const PlannedScenario& its, const StepPlan& at_peak)
      : planned(its), plan(at_peak), words(at_peak), tensors(its.graph) {}

  const PlannedScenario& planned;  // both must outlive it
  const StepPlan& plan;            // of the step in which the peak is
  PlanWords words;
  TensorWords tensors;
};

}  // namespace shardlab
