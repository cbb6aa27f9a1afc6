#include <algorithm>
#include <iterator>

#include "engine/base/nearest.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/strategies/strategy.h"
#include "engine/strategies/strategy_list.h"

namespace shardlab {

#define SHARDLAB_DECLARE_STRATEGY(name) extern const StrategyType k_##name##_strategy;
#define SHARDLAB_NOTHING(name)
SHARDLAB_STRATEGIES(SHARDLAB_DECLARE_STRATEGY, SHARDLAB_NOTHING)
#undef SHARDLAB_DECLARE_STRATEGY

namespace {

struct NamedType {
  std::string_view name;
  const StrategyType* type;
};

constexpr NamedType k_types[] = {
#define SHARDLAB_NAMED_TYPE(name) {#name, &k_##name##_strategy},
    SHARDLAB_STRATEGIES(SHARDLAB_NAMED_TYPE, SHARDLAB_NOTHING)
#undef SHARDLAB_NAMED_TYPE
};

}  // namespace

const StrategyType* strategy_named(std::string_view name) {
  const auto found = std::find_if(std::begin(k_types), std::end(k_types),
                                  [&](const NamedType& named) { return named.name == name; });
  return found == std::end(k_types) ? nullptr : found->type;
}

Result<StrategyType> find_strategy(std::string_view name) {
  if (const StrategyType* const type = strategy_named(name)) return *type;
  return bad_input("parallel.strategy", "not supported yet: " + std::string(name),
                   suggestion(name, built_strategies()));
}

}  // namespace shardlab
