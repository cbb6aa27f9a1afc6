#include "engine/base/nearest.h"
#include "engine/strategies/strategy.h"

namespace shardlab {

const std::vector<StrategyType>& strategy_types() {
  static const std::vector<StrategyType> types = {k_none_strategy, k_ddp_strategy, k_fsdp1_strategy,
                                                  k_fsdp2_strategy, k_native_strategy};
  return types;
}

Result<StrategyType> find_strategy(std::string_view name) {
  std::vector<std::string> known;
  for (const StrategyType& type : strategy_types()) {
    if (type.name == name) return type;
    known.emplace_back(type.name);
  }
  return bad_input("parallel.strategy", "not supported yet: " + std::string(name), suggestion(name, known));
}

}  // namespace shardlab
