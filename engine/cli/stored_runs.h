// The database that a command's --db names, and runs on their way into it.
#pragma once

#include <optional>

#include "engine/cli/command_options.h"
#include "engine/cli/console.h"
#include "engine/plan/planned_scenario.h"
#include "engine/store/run_store.h"
#include "engine/trace/out_of_memory.h"

namespace shardlab {

// Opens the database for commands that only look: a missing file is bad_input.
Result<RunStore> open_runs(const CommonOptions& options);

// Opens the database for commands that store runs: makes the file and its folder.
Result<RunStore> open_or_create_runs(const CommonOptions& options);

// A run that was predicted or measured: its figures, and where it is stored.
struct FinishedRun {
  std::optional<RunId> id;  // absent when it was not stored
  RunSummary summary;
  RunTrace trace;
};

// summarize() with what is known of the scenario's device.
Result<RunSummary> summarize_run(const PlannedScenario& planned, const RunTrace& trace);

// add_rates() with what is known of the scenario's device.
Status add_known_rates(const PlannedScenario& planned, RunSummary& summary);

// Saves unless `store` is null. Fails as RunStore::save does.
Result<FinishedRun> save_run(const PlannedScenario& planned, RunTrace trace, RunSummary summary,
                             RunStore* store);

// Summarizes and, unless `store` is null, saves. Fails as RunStore::save does.
Result<FinishedRun> finish_run(const PlannedScenario& planned, RunTrace trace, RunStore* store);

// Stores and summarizes a measured run that memory ended; its summary says by what.
Result<FinishedRun> finish_out_of_memory(const PlannedScenario& planned, Provenance provenance,
                                         const OutOfMemory& ended, RunStore& store);

// What `simulate` and `run` show; with `plan`, that of the step in which the peak is, the peak in words, and
// with `alive` what is alive there.
void print_run(Console& console, const FinishedRun& run, const StepPlan* plan = nullptr, bool alive = false);

// The plan of the step in which the peak of a run is: the steady one of a run that was finished.
const StepPlan& plan_at_peak(const RunPlan& plan, const RunSummary& summary);

// The event `stored` of --progress json; nothing for a run that was not stored.
void announce(Console& console, const FinishedRun& run);

// Warns on stderr when the run does not fit the device's memory.
void note_when_too_large(Console& console, const RunSummary& summary);

}  // namespace shardlab
