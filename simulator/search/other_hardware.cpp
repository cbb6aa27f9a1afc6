#include "simulator/search/other_hardware.h"

#include <cmath>

#include <fmt/format.h>

#include "engine/base/in_parallel.h"
#include "engine/scenario/cluster_spec.h"
#include "simulator/search/best_with_memory.h"

namespace shardlab {
namespace {

constexpr double k_faster = 2;

struct Change {
  std::string what, key, from, to;
  std::vector<std::string> settings;
  bool of_memory = false;
};

// Factors come upon those that the scenario supposes itself.
std::vector<Change> changes_for(const ClusterSpec& cluster, const Candidate& best) {
  std::vector<Change> changes;
  std::vector<std::string> memory = settings_for_more_memory(cluster);
  if (best.figures.limit && !memory.empty()) {
    const std::string key = memory.front().substr(0, memory.front().find('='));
    const Bytes limit = *best.figures.limit;
    const Bytes more{std::llround(static_cast<double>(limit.value) * k_more_memory)};
    changes.push_back({"memory of a rank", key, to_string(limit), to_string(more), std::move(memory), true});
  }
  if (cluster.device == DeviceKind::cpu) return changes;
  const auto add_wires = [&](const char* what, const std::string& key, double supposed) {
    changes.push_back(
        {what, key, "as described", "twice as fast", {fmt::format("{}={}", key, k_faster * supposed)}});
  };
  const SupposedHardware& supposed = cluster.suppose;
  if (cluster.nodes > 1) add_wires("network", "cluster.suppose.inter_node", supposed.inter_node);
  if (cluster.gpus_per_node > 1)
    add_wires("links in a node", "cluster.suppose.intra_node", supposed.intra_node);
  return changes;
}

}  // namespace

Result<std::vector<OtherHardware>> on_other_hardware(const SearchSpace& space, Evaluator& evaluator,
                                                     const SearchResult& result, const Leader& leader,
                                                     int threads) {
  const Candidate& best = *leader.best;
  SHARDLAB_TRY(const Scenario scenario, evaluator.scenario_with(best.configuration.settings));
  const std::vector<Change> changes = changes_for(*scenario.cluster, best);
  std::vector<Result<Outcome>> outcomes(changes.size(), Outcome{});
  std::vector<Configuration> configurations;
  for (const Change& each : changes)
    configurations.push_back(space.with(best.configuration.index, each.settings));
  in_parallel(changes.size(), threads,
              [&](std::size_t i) { outcomes[i] = evaluator.evaluate(configurations[i].settings); });
  std::vector<OtherHardware> found;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SHARDLAB_TRY(Outcome outcome, std::move(outcomes[i]));
    OtherHardware& row = found.emplace_back();
    row.what = changes[i].what;
    row.own = {changes[i].key, changes[i].from, changes[i].to, outcome.refused, {}};
    if (!outcome.refused.empty()) continue;
    row.own.candidate =
        candidate_of(space.question(), std::move(configurations[i]), std::move(outcome.figures));
    row.asked_who_is_best = changes[i].of_memory && result.space.open == 0;
    if (!row.asked_who_is_best) continue;
    SHARDLAB_TRY(BestWithMemory then, best_with_memory(space, evaluator, result, leader, threads));
    row.best_then = std::move(then.best);
    row.untried = then.untried;
  }
  return found;
}

}  // namespace shardlab
