// The settings that `explain memory` proposes, as remedies of the doctor: both try the same ones.
#pragma once

#include <vector>

#include "engine/doctor/remedy.h"
#include "engine/plan/planned_scenario.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// Settings that could save memory (alternatives/settings_to_try.h) and leave the training as it is, each a
// remedy of its own; the bits of a frozen teacher are none of what is trained. Those that touch more are left
// to rules: they know what belongs to fewer bits, and make up for smaller micro-batches. `run` is the
// prediction of `planned`.
std::vector<Remedy> shared_remedies(const PlannedScenario& planned, const RunSummary& run);

// Appends those of `more` that have a level which no remedy has yet.
void add_new(const std::vector<Remedy>& more, std::vector<Remedy>& remedies);

}  // namespace shardlab
