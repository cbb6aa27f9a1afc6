#include "simulator/calibrate/calibrate.h"

#include <chrono>
#include <ctime>

#include <fmt/format.h>

#include "engine/base/paths.h"
#include "engine/execute/launch.h"
#include "engine/execute/machine.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "engine/strategies/plan_scenario.h"
#include "simulator/calibrate/fit_calibration.h"
#include "simulator/calibrate/probe_cases.h"
#include "simulator/calibrate/run_measurements.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_probe_budget_ms = 26'000;

// A small scenario that really runs, so that its copies, optimizer and bookkeeping are measured where they
// happen. Gradients are always above the clipping limit, so that clipping does its work in every step.
struct SmallRun {
  const char* name;
  const char* strategy;
  int width;
  int feed_forward;
  int sequence;
  const char* more;  // further sections
};

constexpr SmallRun k_small_runs[] = {
    {"tiny", "ddp", 64, 176, 32, ""},
    {"medium", "fsdp2", 256, 688, 64, ""},
    {"wide", "fsdp2", 768, 2048, 32, "precision: {param: bfloat16, reduce: float32}\n"},
};

Result<PlannedScenario> plan_small_run(const SmallRun& run, const CalibrateOptions& options) {
  SHARDLAB_TRY(const std::filesystem::path data, find_asset("data/licenses.txt"));
  const std::string yaml = fmt::format(
      "name: calibration-{}\n"
      "model:\n"
      "  config: tiny-llama\n"
      "  sequence_length: {}\n"
      "  overrides: {{hidden_size: {}, intermediate_size: {}, num_hidden_layers: 4, num_attention_heads: 8, "
      "num_key_value_heads: 4}}\n"
      "cluster: {{device: cpu, ranks: {}, threads_per_rank: {}}}\n"
      "parallel: {{strategy: {}}}\n"
      "{}"
      "train: {{micro_batch: 1, accumulation: 2, sync: every, learning_rate: 1e-5, clip_norm: 1e-6, data: "
      "'{}'}}\n"
      "measure: {{warmup_steps: 2, steps: 6}}\n",
      run.name, run.sequence, run.width, run.feed_forward, options.ranks, options.threads_per_rank,
      run.strategy, run.more, data.string());
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(yaml, fmt::format("calibration-{}.yaml", run.name)));
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
  explicit CalibrationRun(const CalibrateOptions& options) : options_(options) {}

  Result<Calibration> run() {
    const auto start = std::chrono::steady_clock::now();
    frame_.when = now_text();
    for (const SmallRun& small : k_small_runs) SHARDLAB_CHECK_OK(measure(small));
    frame_.machine = this_machine(options_.ranks, options_.threads_per_rank, frame_.versions["torch"]);
    frame_.duration_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    return fit_calibration(measurements_, frame_);
  }

 private:
  // The micro-benchmarks go before the first of the runs, in the same processes.
  Status measure(const SmallRun& small) {
    const bool first = &small == &k_small_runs[0];
    SHARDLAB_TRY(const PlannedScenario planned, plan_small_run(small, options_));
    SHARDLAB_TRY(const Device device, resolve_device(planned.scenario.cluster));
    LaunchOptions launch;
    launch.rank_program = options_.rank_program;
    launch.run_directory = options_.folder / small.name;
    if (first) SHARDLAB_CHECK_OK(write_probes(launch));
    if (options_.progress)
      options_.progress(first ? "operators and collectives" : fmt::format("a {} run", small.name));
    SHARDLAB_TRY(const RunTrace run, launch_run(planned, launch));
    append(measurements_of_run(planned, device, run));
    if (first) SHARDLAB_CHECK_OK(read_probes(launch));
    frame_.versions = run.provenance.versions;
    return {};
  }

  Status write_probes(LaunchOptions& launch) const {
    ProbeList list;
    list.budget_ms = k_probe_budget_ms;
    if (options_.scenario != nullptr) list.cases = probe_cases_of(options_.scenario->graph);
    for (ProbeCase& probe : standard_probe_cases()) list.cases.push_back(std::move(probe));
    launch.probes = options_.folder / "probes.json";
    return write_probe_list(launch.probes, list);
  }

  Status read_probes(const LaunchOptions& launch) {
    for (int rank = 0; rank < options_.ranks; ++rank) {
      SHARDLAB_TRY(std::vector<ProbeMeasurement> results,
                   read_probe_results(probe_results_path(launch.run_directory, rank)));
      append(std::move(results));
    }
    return {};
  }

  void append(std::vector<ProbeMeasurement> more) {
    measurements_.insert(measurements_.end(), std::make_move_iterator(more.begin()),
                         std::make_move_iterator(more.end()));
  }

  const CalibrateOptions& options_;
  Calibration frame_;
  std::vector<ProbeMeasurement> measurements_;
};

}  // namespace

Result<Calibration> calibrate(const CalibrateOptions& options) {
  if (options.ranks < 1 || options.threads_per_rank < 1)
    return bad_input("calibrate", "needs at least one rank and one thread");
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return run_failed(options.folder.string(), fmt::format("cannot be made: {}", error.message()));
  return CalibrationRun(options).run();
}

}  // namespace shardlab
