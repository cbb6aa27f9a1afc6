#include <nlohmann/json.hpp>

#include "engine/cli/stored_runs.h"
#include "engine/report/json.h"
#include "engine/report/summarize.h"
#include "engine/report/tables.h"
#include "engine/report/unit_warnings.h"
#include "engine/report/words/alive_at_peak.h"
#include "engine/scenario/cluster_words.h"
#include "engine/scenario/paths/repeatable_scenario.h"

namespace shardlab {

namespace {

Result<RunStore> open(const CommonOptions& options, OpenMode mode) {
  if (!options.database.empty()) return RunStore::open(options.database, mode);
  SHARDLAB_TRY(const std::filesystem::path path, default_database_path());
  return RunStore::open(path, mode);
}

}  // namespace

Result<RunStore> open_runs(const CommonOptions& options) {
  return open(options, OpenMode::existing);
}

Result<RunStore> open_or_create_runs(const CommonOptions& options) {
  return open(options, OpenMode::create);
}

Result<FinishedRun> save_run(const PlannedScenario& planned, RunTrace trace, RunSummary summary,
                             RunStore* store) {
  RunRecord record;
  record.name = planned.scenario.name;
  record.tags = planned.scenario.tags;
  SHARDLAB_TRY(record.machine, cluster_words(*planned.scenario.cluster));
  record.scenario_yaml = repeatable_scenario(planned.scenario);
  record.plan = planned.plan;
  record.trace = std::move(trace);
  record.summary = std::move(summary);
  std::optional<RunId> id;
  if (store != nullptr) {
    SHARDLAB_TRY(id, store->save(record));
  }
  return FinishedRun{id, std::move(record.summary), std::move(record.trace)};
}

Result<RunSummary> summarize_run(const PlannedScenario& planned, const RunTrace& trace) {
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  return summarize(planned, trace, limits);
}

Status add_known_rates(const PlannedScenario& planned, RunSummary& summary) {
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  add_rates(work_of_step(planned), limits, summary);
  return {};
}

Result<FinishedRun> finish_run(const PlannedScenario& planned, RunTrace trace, RunStore* store) {
  SHARDLAB_TRY(RunSummary summary, summarize_run(planned, trace));
  return save_run(planned, std::move(trace), std::move(summary), store);
}

Result<FinishedRun> finish_out_of_memory(const PlannedScenario& planned, Provenance provenance,
                                         const OutOfMemory& ended, RunStore& store) {
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(planned));
  RunTrace trace;
  trace.provenance = std::move(provenance);
  RunSummary summary = summarize_out_of_memory(planned, trace, ended, limits);
  return save_run(planned, std::move(trace), std::move(summary), &store);
}

const StepPlan& plan_at_peak(const RunPlan& plan, const RunSummary& summary) {
  return summary.ended_by && summary.memory ? plan.step(summary.memory->peak_step) : plan.steady;
}

void print_run(Console& console, const FinishedRun& run, const StepPlan* plan, bool alive) {
  const bool peak = alive && plan != nullptr && run.summary.memory.has_value();
  if (console.json()) {
    Json document = run_json(run.summary, run.id);
    if (peak) document["alive_at_peak"] = alive_json(*plan, *run.summary.memory);
    console.print_json(document);
    return;
  }
  console.print(summary_table(run.summary, console.style(), plan));
  if (peak) console.print("\n" + alive_table(*plan, *run.summary.memory, console.style()));
  if (run.id) console.print("\nstored as " + to_string(*run.id) + "\n");
}

void announce(Console& console, const FinishedRun& run) {
  if (!run.id) return;
  console.event("stored", {{"run_id", to_string(*run.id)},
                           {"kind", to_string(run.trace.provenance.kind)},
                           {"plan_hash", run.summary.plan_hash}});
}

void note_when_too_large(Console& console, const RunSummary& summary) {
  const std::string reason = summary.fit_reason ? ": " + *summary.fit_reason : "";
  if (summary.fits == Fit::no) console.note("note: this does not fit" + reason);
  if (summary.fits == Fit::unsure) console.note("note: this fits only just" + reason);
}

}  // namespace shardlab
