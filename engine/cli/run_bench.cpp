#include "engine/cli/run_bench.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "engine/base/paths.h"
#include "engine/cli/measure.h"
#include "engine/cli/progress_line.h"
#include "engine/cli/rank_program.h"
#include "engine/cli/spool_folder.h"
#include "engine/execute/launch.h"
#include "engine/scenario/mesh.h"
#include "engine/scenario/read_scenario.h"
#include "engine/strategies/plan_scenario.h"

namespace shardlab {
namespace {

// Ranks meet, measure, and take two steps of a model too small to matter.
Result<PlannedScenario> plan_bench(const std::string& cluster) {
  SHARDLAB_TRY(const std::filesystem::path data, find_asset("data/licenses.txt"));
  const std::string yaml = fmt::format(
      "name: bench\n"
      "model: {{config: tiny-llama, sequence_length: 16, overrides: {{hidden_size: 64, intermediate_size: "
      "64, "
      "num_hidden_layers: 1, num_attention_heads: 2, num_key_value_heads: 2}}}}\n"
      "cluster: {}\n"
      "parallel: {{strategy: fsdp2}}\n"
      "train: {{micro_batch: 1, learning_rate: 1e-5, data: '{}'}}\n"
      "measure: {{warmup_steps: 1, steps: 1}}\n",
      cluster, data.string());
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(yaml, "bench.yaml"));
  SHARDLAB_CHECK_OK(check_measurable(scenario));
  return plan_scenario(scenario);
}

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

Result<std::vector<BenchSample>> read_samples(const std::filesystem::path& folder, int ranks) {
  Slowest slowest;
  for (int rank = 0; rank < ranks; ++rank) {
    SHARDLAB_TRY(const std::vector<ProbeMeasurement> measured,
                 read_probe_results(probe_results_path(folder, rank)));
    for (const ProbeMeasurement& measurement : measured) slowest.add(measurement);
  }
  return slowest.take();
}

}  // namespace

Result<std::optional<BenchResult>> run_bench(const BenchRequest& request, Console& console) {
  SHARDLAB_TRY(const PlannedScenario planned, plan_bench(request.cluster));
  const bool on_gpus = planned.scenario.cluster.device != DeviceKind::cpu;
  SHARDLAB_TRY(const auto joined, rank_environment(current_environment()));
  SHARDLAB_TRY(SpoolFolder folder, SpoolFolder::make({}, joined));
  LaunchOptions launch;
  SHARDLAB_TRY(launch.rank_program, rank_program(on_gpus));
  launch.run_directory = folder.path();
  const int rank = joined ? joined->rank : 0;
  launch.probes = folder.path() / fmt::format("bench-{}.json", rank);
  SHARDLAB_CHECK_OK(
      write_probe_list(launch.probes, {request.seconds * 1000, bench_cases(request.selection, on_gpus)}));
  ProgressLine line(console);
  line.show("measuring   products, attention, copies, collectives, pairs of ranks");
  std::optional<RunTrace> run;
  if (joined) {
    SHARDLAB_TRY(run, run_as_rank(planned, launch, *joined));
  } else {
    SHARDLAB_TRY(run, launch_run(planned, launch));
  }
  line.clear();
  if (!run) {
    folder.keep();  // rank 0 reads it and removes it
    return std::optional<BenchResult>();
  }
  BenchResult result{run->provenance.machine, run->provenance.versions, {}};
  SHARDLAB_TRY(result.samples, read_samples(folder.path(), world_size(planned.scenario)));
  return std::optional<BenchResult>(std::move(result));
}

}  // namespace shardlab
