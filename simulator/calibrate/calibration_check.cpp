#include "simulator/calibrate/calibration_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "engine/scenario/cluster_scenario.h"
#include "engine/scenario/cluster_spec.h"
#include "simulator/calibrate/calibrate.h"
#include "simulator/calibrate/case_list.h"

namespace shardlab {
namespace {

constexpr double k_holds_within = 1.2;
constexpr double k_most_missing = 0.1;  // of the processors that the ranks ask for
constexpr std::int64_t k_budget_ms = 3000;

double mean(const std::vector<std::int64_t>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// Which part others had of the processors that the ranks ask for.
double missing_share(const ProcessorUse& use, int needed) {
  if (needed <= 0) return 0;
  const double asked = std::min(needed, use.processors);
  return std::max(0.0, use.others + asked - use.processors) / asked;
}

std::string changed_text(double slowdown, const char* when) {
  return slowdown > 1 ? fmt::format("{} the run this machine was {:.1f} times as slow as when calibrated",
                                    when, slowdown)
                      : fmt::format("{} the run this machine was {:.1f} times as fast as when calibrated",
                                    when, 1 / slowdown);
}

}  // namespace

std::vector<ProbeCase> check_cases() {
  CaseList cases;
  cases.product(DType::float32, 512, 256, 688);
  cases.product(DType::float32, 512, 688, 256);
  cases.add(ProbeGroup::layer, Commonness::common, DType::float32, layer_size(512, 256, 32));
  for (const std::int64_t kib : {64, 512, 2048})
    for (const char* kind : {"all_gather", "reduce_scatter"}) cases.add({kind, {{"bytes", kib << 10}}});
  return cases.take();
}

std::optional<double> slowdown_of(const Calibration& calibration, std::span<const ProbeMeasurement> now) {
  std::map<std::pair<std::string, ProbeShape>, std::vector<std::int64_t>> measured;  // of all ranks
  for (const ProbeMeasurement& each : now) {
    auto& samples = measured[{each.probe, each.shape}];
    samples.insert(samples.end(), each.samples.begin(), each.samples.end());
  }
  double logarithms = 0;
  int count = 0;
  for (const ProbeResult& before : calibration.probes) {
    const auto found = measured.find({before.probe, before.shape});
    if (found == measured.end() || found->second.empty() || before.samples.empty()) continue;
    const double old_mean = mean(before.samples), new_mean = mean(found->second);
    if (old_mean <= 0 || new_mean <= 0) continue;
    logarithms += std::log(new_mean / old_mean);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(logarithms / count);
}

bool still_holds(double slowdown) {
  return slowdown <= k_holds_within && slowdown >= 1 / k_holds_within;
}

std::string why_times_are_not_judged(const MachineState& state) {
  if (state.use && missing_share(*state.use, state.needed) > k_most_missing)
    return fmt::format("other programs took {:.0f} % of the processors meanwhile",
                       100 * state.use->share_of_others());
  if (state.slowdown_after && !still_holds(*state.slowdown_after))
    return changed_text(*state.slowdown_after, "after");
  if (state.slowdown_before && !still_holds(*state.slowdown_before))
    return changed_text(*state.slowdown_before, "before");
  return {};
}

Result<std::optional<double>> measure_slowdown(const Calibration& calibration, const ClusterSpec& cluster,
                                               const LaunchOptions& launch) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of_cluster(cluster_text(cluster, 1)));
  SHARDLAB_TRY(const ProbeRun run, launch_probes(scenario, {k_budget_ms, check_cases()}, launch));
  return slowdown_of(calibration, run.measurements);
}

}  // namespace shardlab
