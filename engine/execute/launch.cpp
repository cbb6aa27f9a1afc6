#include "engine/execute/launch.h"

#include <fmt/format.h>

#include "engine/execute/rank_team.h"
#include "engine/execute/start_ranks.h"
#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_type.h"
#include "engine/scenario/unsupported.h"

namespace shardlab {
namespace {

RankJob training_job(const PlannedScenario& planned, const LaunchOptions& options) {
  RankJob job = job_of(JobKind::train, planned.scenario, options);
  job.run_hash = run_hash(planned.plan);
  return job;
}

RankJob probe_job(const Scenario& scenario, const ProbeList& probes, const LaunchOptions& options) {
  RankJob job = job_of(JobKind::probe, scenario, options);
  job.probes = probes;
  return job;
}

// Our kernels for attention as one draw no masks.
Status check_dropout(const ModelGraph& graph) {
  for (const Operator& op : graph.operators) {
    const double share = op.attributes.get_or(attribute::k_dropout, 0.0);
    if (share == 0 || op.type->drops) continue;
    return bad_input(
        "model.dropout",
        fmt::format("{:g}% of attention's probabilities, dropped within one kernel, are predicted, "
                    "and not run yet",
                    share * 100),
        "nearest that works: model.attention: unfused, which keeps all scores in memory, or "
        "model.dropout: 0%");
  }
  return {};
}

Status check_planned(const PlannedScenario& planned) {
  SHARDLAB_CHECK_OK(check_runs(planned.scenario));
  return check_dropout(planned.graph);
}

Status run_all_ranks(const Scenario& scenario, const RankJob& job, const LaunchOptions& options) {
  if (options.team != nullptr) return options.team->run_job(scenario, job, options);
  return start_all_ranks(scenario, job, options);
}

}  // namespace

Result<RunTrace> launch_run(const PlannedScenario& planned, const LaunchOptions& options) {
  SHARDLAB_CHECK_OK(check_planned(planned));
  SHARDLAB_CHECK_OK(run_all_ranks(planned.scenario, training_job(planned, options), options));
  return gather_spools(planned, options.run_directory);
}

Result<std::optional<RunTrace>> run_as_rank(const PlannedScenario& planned, const LaunchOptions& options,
                                            const RankEnvironment& environment) {
  SHARDLAB_CHECK_OK(check_planned(planned));
  SHARDLAB_CHECK_OK(start_own_rank(planned.scenario, training_job(planned, options), options, environment));
  if (environment.rank != 0) return std::nullopt;
  SHARDLAB_TRY(RunTrace run, gather_spools(planned, options.run_directory));
  return run;
}

Result<ProbeRun> launch_probes(const Scenario& scenario, const ProbeList& probes,
                               const LaunchOptions& options) {
  SHARDLAB_CHECK_OK(run_all_ranks(scenario, probe_job(scenario, probes, options), options));
  return gather_probes(scenario, options.run_directory);
}

Result<std::optional<ProbeRun>> probe_as_rank(const Scenario& scenario, const ProbeList& probes,
                                              const LaunchOptions& options,
                                              const RankEnvironment& environment) {
  SHARDLAB_CHECK_OK(start_own_rank(scenario, probe_job(scenario, probes, options), options, environment));
  if (environment.rank != 0) return std::nullopt;
  SHARDLAB_TRY(ProbeRun run, gather_probes(scenario, options.run_directory));
  return run;
}

}  // namespace shardlab
