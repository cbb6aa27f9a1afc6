// The strategy with its ways of resharding, its mesh and its prefetching, as one knob.
#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/parallel_words.h"
#include "engine/scenario/strategy_facts.h"
#include "simulator/search/question/default_knobs.h"
#include "simulator/search/question/scenario_choices.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_replicas = 4;

// Keys that say how a strategy reshards: each strategy has its own, so they are chosen with it.
constexpr std::string_view k_reshard = "reshard_after_forward", k_sharding = "sharding";

bool matters(const StrategyFacts& facts, const std::string& key) {
  return strategies_that_accept(key).empty() || accepts(facts, key);
}

// What is below `section` of the tree, of which the strategy with these facts takes only a part.
YamlNode kept_below(const YamlNode& tree, const std::string& section, const StrategyFacts& facts) {
  YamlNode kept;
  kept.kind = YamlNode::Kind::map;
  const YamlNode* const given = tree.find(section);
  if (given == nullptr) return kept;
  for (const YamlEntry& entry : given->entries) {
    if (matters(facts, section + "." + entry.key)) kept.entries.push_back(entry);
  }
  return kept;
}

void set(YamlNode& map, std::string_view key, std::string_view value) {
  if (YamlNode* const found = map.find(key))
    *found = yaml_scalar(std::string(value));
  else
    map.entries.push_back({std::string(key), {}, yaml_scalar(std::string(value))});
}

// Under a strategy that does not cast, what `precision` says would be lost, and with it the arithmetic.
bool keeps_precision(const YamlNode& tree, const StrategyFacts& facts) {
  const YamlNode* const given = tree.find("precision");
  return given == nullptr || facts.casts_units || given->entries.empty();
}

Choice parallel_choice(const YamlNode& section, std::string shown) {
  return {{"parallel=" + write_yaml_flow(section)}, std::move(shown)};
}

using Ways = std::vector<Choice>;

void add(Ways& ways, const YamlNode& section, std::string_view strategy, std::string_view words) {
  ways.push_back(parallel_choice(
      section, words.empty() ? std::string(strategy) : fmt::format("{} {}", strategy, words)));
}

void add_resharding(Ways& ways, const StrategyFacts& facts, const YamlNode& section,
                    std::string_view strategy) {
  YamlNode other = section;
  if (accepts(facts, "parallel.reshard_after_forward")) {
    set(other, k_reshard, "false");
    add(ways, other, strategy, "kept after forward");
  } else if (accepts(facts, "parallel.sharding")) {
    set(other, k_sharding, to_string(Fsdp1Sharding::shard_grad_op));
    add(ways, other, strategy, to_string(Fsdp1Sharding::shard_grad_op));
  }
}

// Gathers of FSDP1 that begin when the unit before is through, which holds one less at a time; of FSDP2 two
// units ahead, which holds one more.
void add_prefetching(Ways& ways, const StrategyFacts& facts, const YamlNode& section,
                     std::string_view strategy) {
  if (section.find("prefetch") != nullptr) return;
  YamlNode other = section;
  if (accepts(facts, "parallel.prefetch.backward")) {
    other.entries.push_back({"prefetch", {}, parse_yaml("backward: post", "").value()});
    add(ways, other, strategy, "prefetching after");
  } else if (accepts(facts, "parallel.prefetch.forward_depth")) {
    other.entries.push_back({"prefetch", {}, parse_yaml("forward_depth: 2\nbackward_depth: 2", "").value()});
    add(ways, other, strategy, "prefetching 2");
  }
}

// Replicas of a sharded model, one a node or a group of nodes. `replicas`: how many.
void add_replicas(Ways& ways, const StrategyFacts& facts, const YamlNode& section, std::string_view strategy,
                  const std::vector<int>& replicas) {
  if (!facts.gathers_units || section.find("mesh") != nullptr) return;
  for (const int count : replicas) {
    YamlNode other = section;
    if (accepts(facts, "parallel.sharding")) set(other, k_sharding, to_string(Fsdp1Sharding::hybrid_shard));
    other.entries.push_back({"mesh", {}, parse_yaml(fmt::format("replicate: {}", count), "").value()});
    add(ways, other, strategy, fmt::format("{} replicas", count));
  }
}

Ways ways_of(std::string_view name, const StrategyFacts& facts, YamlNode section,
             const std::vector<int>& replicas) {
  const std::string strategy(name);
  set(section, "strategy", strategy);
  if (accepts(facts, "parallel.reshard_after_forward")) set(section, k_reshard, "default");
  if (accepts(facts, "parallel.sharding")) set(section, k_sharding, to_string(Fsdp1Sharding::full_shard));
  Ways ways = {parallel_choice(section, strategy)};
  add_resharding(ways, facts, section, strategy);
  add_prefetching(ways, facts, section, strategy);
  add_replicas(ways, facts, section, strategy, replicas);
  return ways;
}

// Powers of two among the numbers of nodes, without the one alone: a replica a node, or a few nodes.
std::vector<int> replicas_for(const std::vector<int>& nodes) {
  std::vector<int> replicas;
  for (const int count : nodes)
    if (count > 1 && (count & (count - 1)) == 0 && replicas.size() < k_most_replicas)
      replicas.push_back(count);
  return replicas;
}

}  // namespace

// What a scenario of one node refuses may be possible on as many as are offered, so that is tried on the
// most.
Knob parallel_knob(const YamlNode& tree, const BaseScenario& base, const std::vector<int>& nodes) {
  std::vector<Choice> choices;
  const std::vector<int> replicas = replicas_for(nodes);
  for (const KnownStrategy& strategy : known_strategies()) {
    if (!strategy.built || !strategy.facts->proposed || !keeps_precision(tree, *strategy.facts)) continue;
    for (Choice& choice :
         ways_of(strategy.name, *strategy.facts, kept_below(tree, "parallel", *strategy.facts), replicas))
      choices.push_back(std::move(choice));
  }
  std::vector<std::string> on_most;
  if (!nodes.empty() && !base.scenario.cluster->node.empty())
    on_most.push_back(fmt::format("cluster.nodes={}", *std::max_element(nodes.begin(), nodes.end())));
  return knob_of_choices("parallel", base, "as given", std::move(choices), on_most);
}

}  // namespace shardlab
