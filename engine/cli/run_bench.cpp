#include "engine/cli/run_bench.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "engine/cli/measure.h"
#include "engine/cli/progress_line.h"
#include "engine/cli/spool_folder.h"
#include "engine/execute/launch.h"
#include "engine/scenario/cluster_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab {
namespace {

std::int64_t median(std::vector<std::int64_t> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// What all ranks measured together takes as long as for the slowest.
class Slowest {
 public:
  void add(const ProbeMeasurement& measurement) {
    if (measurement.samples.empty()) return;
    const std::int64_t time = measurement.probe == "pair"
                                  ? *std::min_element(measurement.samples.begin(), measurement.samples.end())
                                  : median(measurement.samples);
    const auto [known, fresh] = place_.try_emplace({measurement.probe, measurement.shape}, samples_.size());
    if (fresh) samples_.push_back({measurement.probe, measurement.shape, time});
    samples_[known->second].time_ns = std::max(samples_[known->second].time_ns, time);
  }
  std::vector<BenchSample> take() { return std::move(samples_); }

 private:
  std::map<std::pair<std::string, ProbeShape>, std::size_t> place_;
  std::vector<BenchSample> samples_;  // in the order they were measured
};

std::vector<BenchSample> slowest_of(const std::vector<ProbeMeasurement>& measurements) {
  Slowest slowest;
  for (const ProbeMeasurement& measurement : measurements) slowest.add(measurement);
  return slowest.take();
}

Result<std::optional<ProbeRun>> measure_probes(const Scenario& scenario, const ProbeList& probes,
                                               const LaunchOptions& launch,
                                               const std::optional<RankEnvironment>& joined) {
  if (joined) return probe_as_rank(scenario, probes, launch, *joined);
  SHARDLAB_TRY(ProbeRun run, launch_probes(scenario, probes, launch));
  return std::optional<ProbeRun>(std::move(run));
}

}  // namespace

Result<std::optional<BenchResult>> run_bench(const BenchRequest& request, Console& console) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of_cluster(request.cluster));
  SHARDLAB_CHECK_OK(resolve_device(*scenario.cluster));
  SHARDLAB_CHECK_OK(check_measurable(scenario));
  const bool on_gpus = scenario.cluster->device != DeviceKind::cpu;
  SHARDLAB_TRY(const auto joined, one_of_several(current_environment()));
  SHARDLAB_TRY(SpoolFolder folder, SpoolFolder::make({}, joined));
  LaunchOptions launch;
  SHARDLAB_TRY(launch.rank_program, rank_program(on_gpus));
  launch.run_directory = folder.path();
  const ProbeList probes{request.seconds * 1000, bench_cases(request.selection, on_gpus)};
  ProgressLine line(console);
  line.show("measuring   products, attention, copies, collectives, pairs of ranks");
  const Result<std::optional<ProbeRun>> run = measure_probes(scenario, probes, launch, joined);
  line.clear();
  if (!run) {
    if (run.error().kind == ErrorKind::run_failed) folder.keep();  // the error names it
    return fail(run.error());
  }
  if (!*run) {
    folder.keep();  // rank 0 reads it and removes it
    return std::optional<BenchResult>();
  }
  const ProbeRun& done = **run;
  return std::optional<BenchResult>({done.machine, done.versions, slowest_of(done.measurements)});
}

}  // namespace shardlab
