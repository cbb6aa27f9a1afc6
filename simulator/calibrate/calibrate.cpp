#include "simulator/calibrate/calibrate.h"

#include <algorithm>
#include <chrono>
#include <ctime>

#include <fmt/format.h>

#include "engine/base/paths.h"
#include "engine/execute/launch.h"
#include "engine/hardware/catalogue.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/calibrate/calibration_check.h"
#include "simulator/calibrate/fit_calibration.h"
#include "simulator/calibrate/probe_cases.h"
#include "simulator/calibrate/run_measurements.h"

namespace shardlab {
namespace {

// Heads of at most 128 elements, eight at least.
int heads_of(const SmallRun& run) {
  return std::max(8, run.width / 128);
}

// Gradients are always above the clipping limit, so that clipping does its work in every step.
Result<PlannedScenario> plan_small_run(const SmallRun& run, const std::string& cluster) {
  SHARDLAB_TRY(const std::filesystem::path data, find_asset("data/licenses.txt"));
  const std::string yaml = fmt::format(
      "name: calibration-{}\n"
      "model:\n"
      "  config: tiny-llama\n"
      "  sequence_length: {}\n"
      "  overrides: {{hidden_size: {}, intermediate_size: {}, num_hidden_layers: 4, num_attention_heads: {}, "
      "num_key_value_heads: {}, max_position_embeddings: {}}}\n"
      "parallel: {{strategy: {}}}\n"
      "{}"
      "train: {{micro_batch: 1, accumulation: 2, sync: every, learning_rate: 1e-5, clip_norm: 1e-6, data: "
      "'{}'}}\n"
      "measure: {{warmup_steps: 2, steps: 6}}\n",
      run.name, run.sequence, run.width, run.feed_forward, heads_of(run), heads_of(run) / 2,
      std::max(run.sequence, 512), run.strategy, run.more, data.string());
  const std::vector<std::string> overrides{"cluster=" + cluster};
  SHARDLAB_TRY(const Scenario scenario,
               parse_scenario(yaml, fmt::format("calibration-{}.yaml", run.name), overrides));
  return plan_scenario(scenario);
}

std::string now_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

class CalibrationRun {
 public:
  CalibrationRun(const CalibrateOptions& options, const Scenario& scenario, const Device& device)
      : options_(options),
        scenario_(scenario),
        device_(device),
        ranks_(world_size(scenario)),
        work_(options.work != nullptr ? *options.work : standard_work(device.kind)) {}

  Result<Calibration> calibrate() {
    const auto start = std::chrono::steady_clock::now();
    frame_.when = now_text();
    SHARDLAB_CHECK_OK(measure_probes());
    for (const SmallRun& small : work_.runs) SHARDLAB_CHECK_OK(measure(small));
    if (device_.kind == DeviceKind::cpu) SHARDLAB_CHECK_OK(measure_changed());
    frame_.duration_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    return fit_calibration(measurements_, frame_);
  }

 private:
  ProbeList all_probes() const {
    ProbeList list;
    list.budget_ms = work_.probe_budget_ms;
    if (options_.scenario != nullptr) {
      list.cases = probe_cases_of(options_.scenario->graph);
      for (ProbeCase& drive : drive_cases(options_.scenario->scenario))
        list.cases.push_back(std::move(drive));
    }
    list.cases.insert(list.cases.end(), work_.probes.begin(), work_.probes.end());
    return list;
  }

  Status measure_probes() {
    if (options_.progress) options_.progress("operators and collectives");
    SHARDLAB_TRY(ProbeRun run, launch_probes(scenario_, all_probes(), next_launch()));
    SHARDLAB_CHECK_OK(note_machine(run));
    append(std::move(run.measurements));
    return {};
  }

  // Other programs may have had the processors while one group was measured, and be gone by now.
  Status measure_changed() {
    if (options_.progress) options_.progress("whether it holds");
    SHARDLAB_TRY(const ProbeRun now,
                 launch_probes(scenario_, {work_.probe_budget_ms, check_cases()}, next_launch()));
    const auto slowdown = slowdown_of(fit_calibration(measurements_, frame_), now.measurements);
    if (!slowdown) return {};
    for (const GroupSlowdown& each : *slowdown)
      if (!still_holds(each.factor)) SHARDLAB_CHECK_OK(measure_again(each));
    return {};
  }

  Status measure_again(const GroupSlowdown& changed) {
    if (options_.progress) options_.progress(slowdown_words(changed) + ": once more");
    ProbeList list = all_probes();
    std::erase_if(list.cases, [&](const ProbeCase& each) { return group_of_case(each) != changed.group; });
    SHARDLAB_TRY(ProbeRun run, launch_probes(scenario_, list, next_launch()));
    measurements_ = with_new(std::move(measurements_), std::move(run.measurements));
    return {};
  }

  Status measure(const SmallRun& small) {
    if (options_.progress) options_.progress(fmt::format("a {} run", small.name));
    SHARDLAB_TRY(const PlannedScenario planned, plan_small_run(small, options_.cluster));
    SHARDLAB_TRY(const RunTrace run, launch_run(planned, next_launch()));
    append(measurements_of_run(planned, device_, run));
    return {};
  }

  // Named as a run folder's own parts are (execute/run_folder.h), which are removed with it.
  LaunchOptions next_launch() {
    LaunchOptions launch;
    launch.rank_program = options_.rank_program;
    launch.run_directory = options_.folder / fmt::format("run-{}", ++launches_);
    launch.team = options_.team;
    return launch;
  }

  Status note_machine(const ProbeRun& run) {
    frame_.versions = run.versions;
    frame_.machine = this_machine(ranks_, device_.threads, frame_.versions["torch"]);
    if (device_.kind == DeviceKind::cpu) return {};
    frame_.machine.processor = run.machine;
    frame_.machine.cores = 0;
    frame_.machine.gpu = device_.name;
    frame_.machine.nodes = device_.nodes;
    if (is_device_called(device_.name, run.machine)) return {};
    return bad_input("cluster", fmt::format("says {}, the machine has {}", device_.name, run.machine),
                     "`shardlab hardware` lists the names");
  }

  void append(std::vector<ProbeMeasurement> more) {
    measurements_.insert(measurements_.end(), std::make_move_iterator(more.begin()),
                         std::make_move_iterator(more.end()));
  }

  const CalibrateOptions& options_;
  const Scenario& scenario_;  // only its cluster is read
  const Device& device_;
  const int ranks_;
  const CalibrationWork work_;
  Calibration frame_;
  int launches_ = 0;
  std::vector<ProbeMeasurement> measurements_;
};

}  // namespace

Result<Calibration> calibrate(const CalibrateOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    return run_failed(in_file(options.folder.string()), fmt::format("cannot be made: {}", error.message()));
  SHARDLAB_TRY(const Scenario scenario, scenario_of_cluster(options.cluster));
  if (scenario.cluster->nodes > 1 && options.team == nullptr)
    return not_possible("cluster", "this is one machine, and it has several nodes",
                        "give nodes: 1, or start it on all of them with torchrun, srun or mpirun");
  SHARDLAB_TRY(const Device device, resolve_device(*scenario.cluster));
  return CalibrationRun(options, scenario, device).calibrate();
}

Result<DeviceKind> device_kind_of(const std::string& cluster) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of_cluster(cluster));
  return scenario.cluster->device.value_or(DeviceKind::gpu);
}

std::string cluster_text(const ClusterSpec& cluster, int nodes) {
  if (cluster.device == DeviceKind::cpu)
    return fmt::format("{{device: cpu, ranks: {}, threads_per_rank: {}}}", cluster.ranks,
                       cluster.threads_per_rank);
  const std::string count =
      cluster.gpus_per_node > 0 ? fmt::format(", gpus_per_node: {}", cluster.gpus_per_node) : "";
  const std::string what = cluster.node.empty() ? "gpu: " + cluster.gpu : "node: " + cluster.node;
  return fmt::format("{{{}, nodes: {}{}}}", what, nodes, count);
}

}  // namespace shardlab
