#include "engine/scenario/strategy_facts.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/scenario/parallel_spec.h"
#include "engine/scenario/scenario.h"
#include "engine/strategies/strategy_list.h"

namespace shardlab {

#define SHARDLAB_DECLARE_FACTS(name) extern const StrategyFacts k_##name##_facts;
SHARDLAB_STRATEGIES(SHARDLAB_DECLARE_FACTS, SHARDLAB_DECLARE_FACTS)
#undef SHARDLAB_DECLARE_FACTS

namespace {

constexpr KnownStrategy k_known[] = {
#define SHARDLAB_BUILT(name) {#name, &k_##name##_facts, true},
#define SHARDLAB_KNOWN(name) {#name, &k_##name##_facts, false},
    SHARDLAB_STRATEGIES(SHARDLAB_BUILT, SHARDLAB_KNOWN)
#undef SHARDLAB_BUILT
#undef SHARDLAB_KNOWN
};

template <typename Predicate>
std::vector<std::string> names_of(Predicate&& matches) {
  std::vector<std::string> names;
  for (const KnownStrategy& strategy : k_known) {
    if (matches(strategy)) names.emplace_back(strategy.name);
  }
  return names;
}

bool is_below(std::string_view key, std::string_view section) {
  return key.size() > section.size() && key.starts_with(section) && key[section.size()] == '.';
}

}  // namespace

std::span<const KnownStrategy> known_strategies() {
  return k_known;
}

std::optional<std::string> strategy_called(std::string_view name) {
  const std::string wanted = in_lower_case(name);
  for (const KnownStrategy& strategy : k_known) {
    const auto& aliases = strategy.facts->aliases;
    if (strategy.name == wanted || std::find(aliases.begin(), aliases.end(), wanted) != aliases.end())
      return std::string(strategy.name);
  }
  return std::nullopt;
}

std::string strategy_hint(std::string_view name) {
  const std::string wanted = in_lower_case(name);
  std::vector<std::string> meant;
  for (const KnownStrategy& strategy : k_known) {
    for (const LooseName& loose : strategy.facts->loose_names) {
      if (loose.name != wanted) continue;
      meant.push_back(loose.with.empty() ? std::string(strategy.name)
                                         : fmt::format("{} with {}", strategy.name, loose.with));
    }
  }
  if (!meant.empty()) return fmt::format("did you mean {}?", fmt::join(meant, ", or "));
  return suggestion(wanted, strategy_names());
}

const StrategyFacts& facts_of(const Scenario& scenario) {
  return facts_of(strategy_name(scenario));
}

const std::string& strategy_name(const Scenario& scenario) {
  return scenario.parallel->strategy;
}

const StrategyFacts& facts_of(std::string_view strategy) {
  static constexpr StrategyFacts k_defaults;
  const auto found = std::find_if(std::begin(k_known), std::end(k_known),
                                  [&](const KnownStrategy& known) { return known.name == strategy; });
  return found == std::end(k_known) ? k_defaults : *found->facts;
}

bool accepts(const StrategyFacts& facts, std::string_view key) {
  return std::any_of(facts.keys.begin(), facts.keys.end(), [&](std::string_view listed) {
    return listed == key || is_below(key, listed) || is_below(listed, key);
  });
}

bool replicates_state(const ParallelSpec& parallel) {
  const StrategyFacts& facts = facts_of(parallel.strategy);
  return facts.replicates != nullptr && facts.replicates(parallel);
}

bool replicates_state(const Scenario& scenario) {
  return replicates_state(*scenario.parallel);
}

std::vector<std::string> strategy_names() {
  return names_of([](const KnownStrategy&) { return true; });
}

std::vector<std::string> built_strategies() {
  return names_of([](const KnownStrategy& strategy) { return strategy.built; });
}

std::vector<std::string> teacher_strategies() {
  return names_of(
      [](const KnownStrategy& strategy) { return strategy.built && strategy.facts->why_no_teacher.empty(); });
}

std::vector<std::string> strategies_that_accept(std::string_view key) {
  return names_of([&](const KnownStrategy& strategy) { return accepts(*strategy.facts, key); });
}

std::string of_strategies(std::string_view key, std::string_view text) {
  return fmt::format("{}: {}", fmt::join(strategies_that_accept(key), ", "), text);
}

std::string proposed_for_joined_modules() {
  const std::vector<std::string> names = names_of([](const KnownStrategy& strategy) {
    const StrategyFacts& facts = *strategy.facts;
    return strategy.built && facts.proposed && facts.gathers_units && facts.why_no_joined_modules.empty();
  });
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string offloading_strategies() {
  const std::vector<std::string> names = names_of(
      [](const KnownStrategy& strategy) { return strategy.built && strategy.facts->offloads_parameters; });
  return fmt::format("{}", fmt::join(names, " or "));
}

std::string proposed_for(std::string_view key) {
  const std::vector<std::string> names = names_of([&](const KnownStrategy& strategy) {
    return strategy.built && strategy.facts->proposed && accepts(*strategy.facts, key);
  });
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace shardlab
