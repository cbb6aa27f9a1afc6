// A run as panels are given it: everything the store or a prediction knows of it, read once and then shared.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/store/run_record.h"
#include "gui/view_model/own_words.h"

namespace shardlab::view {

struct LoadedRun {
  std::optional<RunId> id{};  // absent for a prediction that was not stored
  RunRecord record;
  std::string role{};  // in the window, beside the others: "baseline"; mostly empty
  // Its whole title, as whoever speaks of it says it: a lesson of its scenario; mostly empty.
  std::string called{};
  OwnWords own_words{};

  RunKind kind() const { return record.trace.provenance.kind; }
  const StepPlan& plan() const { return record.plan.steady; }
  const PlanWords& words() const { return own_words.of(plan()); }
};

using LoadedRunPtr = std::shared_ptr<const LoadedRun>;

// The steady step whose time is the median (the earlier of two in the middle); null when the run has none.
const StepTrace* typical_step(const LoadedRun& run);

// What an instruction of the plan does, with its name in the plan's text behind: "backward of layer 5,
// micro-batch 1 of 4 (52 Backward s6 mb0)".
std::string label_of(const LoadedRun& run, InstructionId id);
// The same of a plan that is no run's (yet).
std::string label_of(const StepPlan& plan, const PlanWords& words, InstructionId id);

// The label of the instruction in which memory is highest; as the run tells it where that is none of its
// steady plan.
// Empty for a run that recorded no memory.
std::string peak_label_of(const LoadedRun& run);

// Where an instruction is in the model: "model.layers.3, operators 41 to 55"; empty where it belongs to no
// module.
std::string place_of(const StepPlan& plan, InstructionId id);

// The trace of a rank in a step; of the first rank when it has no such one; null when it has none.
const RankTrace* rank_of(const StepTrace& step, int rank);

}  // namespace shardlab::view
