#include "simulator/calibrate/calibration_check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "engine/plan/probed_collective.h"
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

std::string changed_text(const Slowdown& slowdown, const char* when) {
  const GroupSlowdown& worst = worst_of(slowdown);
  const bool slower = worst.factor > 1;
  return fmt::format("{} the run the {} of this machine were {:.1f} times as {} as when calibrated", when,
                     to_string(worst.group), slower ? worst.factor : 1 / worst.factor,
                     slower ? "slow" : "fast");
}

double distance(const GroupSlowdown& group) {
  return std::abs(std::log(group.factor));
}

}  // namespace

std::vector<ProbeCase> check_cases() {
  CaseList cases;
  cases.product(DType::float32, 512, 256, 688);
  cases.product(DType::float32, 512, 688, 256);
  cases.add(ProbeGroup::layer, Commonness::common, DType::float32, layer_size(512, 256, 32));
  for (const std::int64_t kib : {64, 512, 2048})
    for (const auto collective : {ProbedCollective::all_gather, ProbedCollective::reduce_scatter})
      cases.add({std::string(to_string(collective)), {{"bytes", kib << 10}}});
  return cases.take();
}

std::optional<Slowdown> slowdown_of(const Calibration& calibration, std::span<const ProbeMeasurement> now) {
  std::map<std::pair<std::string, ProbeShape>, std::vector<std::int64_t>> measured;  // of all ranks
  for (const ProbeMeasurement& each : now) {
    auto& samples = measured[{each.probe, each.shape}];
    samples.insert(samples.end(), each.samples.begin(), each.samples.end());
  }
  struct Sum {
    double logarithms = 0;
    int count = 0;
  };
  std::map<CheckedGroup, Sum> sums;
  for (const ProbeResult& before : calibration.probes) {
    const auto found = measured.find({before.probe, before.shape});
    if (found == measured.end() || found->second.empty() || before.samples.empty()) continue;
    const double old_mean = mean(before.samples), new_mean = mean(found->second);
    if (old_mean <= 0 || new_mean <= 0) continue;
    Sum& sum = sums[group_of_probe(before.probe)];
    sum.logarithms += std::log(new_mean / old_mean);
    ++sum.count;
  }
  if (sums.empty()) return std::nullopt;
  Slowdown slowdown;
  for (const auto& [group, sum] : sums) slowdown.push_back({group, std::exp(sum.logarithms / sum.count)});
  return slowdown;
}

const GroupSlowdown& worst_of(const Slowdown& slowdown) {
  return *std::max_element(
      slowdown.begin(), slowdown.end(),
      [](const GroupSlowdown& a, const GroupSlowdown& b) { return distance(a) < distance(b); });
}

bool still_holds(double factor) {
  return factor <= k_holds_within && factor >= 1 / k_holds_within;
}

bool still_holds(const Slowdown& slowdown) {
  return still_holds(worst_of(slowdown).factor);
}

std::string slowdown_words(const GroupSlowdown& group) {
  return fmt::format("{} take {:.1f} times as long", to_string(group.group), group.factor);
}

std::vector<ProbeMeasurement> with_new(std::vector<ProbeMeasurement> before,
                                       std::vector<ProbeMeasurement> again) {
  std::set<std::pair<std::string, ProbeShape>> known;
  for (const ProbeMeasurement& each : again)
    if (!each.samples.empty()) known.insert({each.probe, each.shape});
  std::erase_if(before, [&](const ProbeMeasurement& each) {
    return known.contains({each.probe, each.shape});
  });
  before.insert(before.end(), std::make_move_iterator(again.begin()), std::make_move_iterator(again.end()));
  return before;
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

Result<std::optional<Slowdown>> measure_slowdown(const Calibration& calibration, const ClusterSpec& cluster,
                                                 const LaunchOptions& launch) {
  SHARDLAB_TRY(const Scenario scenario, scenario_of_cluster(cluster_text(cluster, 1)));
  SHARDLAB_TRY(const ProbeRun run, launch_probes(scenario, {k_budget_ms, check_cases()}, launch));
  return slowdown_of(calibration, run.measurements);
}

}  // namespace shardlab
