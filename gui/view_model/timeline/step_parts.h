// The parts of a step as its compute stream goes through them: forward and backward of each micro-batch, the
// optimizer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/report/words/plan_words.h"
#include "engine/trace/run_summary.h"
#include "engine/trace/step_trace.h"

namespace shardlab::view {

struct StepPart {
  StepPhase phase = StepPhase::forward;
  bool teachers = false;           // of a distillation
  std::optional<int> micro_batch;  // none of the optimizer, and where nobody told
  Nanoseconds begin;               // of its first span on the compute stream
  Nanoseconds end;                 // of its last

  friend bool operator==(const StepPart&, const StepPart&) = default;
};

// In the order of time. What only serves computation (casts, unpacking) belongs to the part around it. The
// trace must fit the plan, whose words these are.
std::vector<StepPart> step_parts(const StepPlan& plan, const PlanWords& words, const RankTrace& rank);

// "forward, micro-batch 2 of 4", "the teacher's forward"; and where room is scarce "fwd 2".
std::string to_words(const StepPart& part, int micro_batches);
std::string brief(const StepPart& part, int micro_batches);

}  // namespace shardlab::view
