#include "engine/cli/imports/kept_run.h"

#include "engine/execute/launch.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// The job of all ranks, or of the first where each had a launcher of its own.
Result<RankJob> job_in(const fs::path& folder) {
  std::error_code ignored;
  const fs::path common = rank_job_path(folder);
  return read_rank_job(fs::exists(common, ignored) ? common : rank_job_path(folder, 0));
}

Result<PlannedScenario> plan_of(const RankJob& job, const fs::path& folder) {
  if (job.kind != JobKind::train)
    return bad_input(in_file(folder.string()), "holds probes of a calibration, not a training");
  SHARDLAB_TRY(const Scenario scenario, scenario_of(job));
  return plan_scenario(scenario);
}

}  // namespace

bool is_kept_run(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) &&
         (fs::exists(rank_job_path(path), ignored) || fs::exists(rank_job_path(path, 0), ignored));
}

Result<FinishedRun> store_kept_run(const fs::path& folder, RunStore& store) {
  SHARDLAB_TRY(const RankJob job, job_in(folder));
  SHARDLAB_TRY(const PlannedScenario planned, plan_of(job, folder));
  if (const auto ended = find_out_of_memory(planned, folder))
    return finish_out_of_memory(planned, provenance_of_unfinished(planned, folder), *ended, store);
  SHARDLAB_TRY(RunTrace trace, gather_spools(planned, folder));
  return finish_run(planned, std::move(trace), &store);
}

}  // namespace shardlab
