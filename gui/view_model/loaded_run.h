// A run as panels are given it: everything the store or a prediction knows of it, read once and then shared.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/store/run_record.h"

namespace shardlab::view {

struct LoadedRun {
  std::optional<RunId> id{};  // absent for a prediction that was not stored
  RunRecord record;

  RunKind kind() const { return record.trace.provenance.kind; }
  const StepPlan& plan() const { return record.plan.steady; }
};

using LoadedRunPtr = std::shared_ptr<const LoadedRun>;

// "r12 measured", "tiny-llama predicted".
std::string title_of(const LoadedRun& run);

// The steady step whose time is the median (the earlier of two in the middle); null when the run has none.
const StepTrace* typical_step(const LoadedRun& run);

// Where an instruction is in the model: "model.layers.3, operators 41 to 55"; empty where it belongs to no
// module.
std::string place_of(const StepPlan& plan, InstructionId id);

// The trace of a rank in a step; of the first rank when it has no such one; null when it has none.
const RankTrace* rank_of(const StepTrace& step, int rank);

}  // namespace shardlab::view
