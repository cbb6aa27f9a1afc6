#include "engine/execute/launch.h"

#include <fmt/format.h>

#include "engine/execute/start_ranks.h"
#include "engine/scenario/read_scenario.h"

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

// Whoever wrote the cluster knows no file: `bench --cluster '{gpu: H100}'`.
void place_at_option(Error& error) {
  if (!error.place.file.empty()) error.place = named(in_file("--cluster"), error.place.name);
  for (Error& part : error.parts) place_at_option(part);
}

}  // namespace

Result<RunTrace> launch_run(const PlannedScenario& planned, const LaunchOptions& options) {
  SHARDLAB_CHECK_OK(start_all_ranks(planned.scenario, training_job(planned, options), options));
  return gather_spools(planned, options.run_directory);
}

Result<std::optional<RunTrace>> run_as_rank(const PlannedScenario& planned, const LaunchOptions& options,
                                            const RankEnvironment& environment) {
  SHARDLAB_CHECK_OK(start_own_rank(planned.scenario, training_job(planned, options), options, environment));
  if (environment.rank != 0) return std::nullopt;
  SHARDLAB_TRY(RunTrace run, gather_spools(planned, options.run_directory));
  return run;
}

Result<ProbeRun> launch_probes(const Scenario& scenario, const ProbeList& probes,
                               const LaunchOptions& options) {
  SHARDLAB_CHECK_OK(start_all_ranks(scenario, probe_job(scenario, probes, options), options));
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

Result<Scenario> scenario_of_cluster(const std::string& cluster) {
  const std::string yaml = fmt::format(
      "name: probes\n"
      "model: {{config: tiny-llama, sequence_length: 16}}\n"
      "cluster: {}\n"
      "parallel: {{strategy: fsdp2}}\n",
      cluster);
  Result<Scenario> scenario = parse_scenario(yaml, "probes.yaml");
  if (!scenario) place_at_option(scenario.error());
  return scenario;
}

}  // namespace shardlab
