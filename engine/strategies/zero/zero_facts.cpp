// DeepSpeed's ZeRO: names and keys are known, schedules are not built yet.
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_keys[] = {"parallel.zero"};
constexpr UnsupportedKey k_unsupported[] = {{"parallel.zero", "leave it out, with parallel.strategy: fsdp2"}};

constexpr StrategyFacts zero(std::string_view nearest) {
  return {
      .keys = k_keys, .float16_scaler = "LossScaler", .unsupported = k_unsupported, .nearest_built = nearest};
}

}  // namespace

extern constexpr StrategyFacts k_zero1_facts = zero("fsdp1 with parallel.sharding: shard_grad_op");
extern constexpr StrategyFacts k_zero2_facts = zero("fsdp1 with parallel.sharding: shard_grad_op");
extern constexpr StrategyFacts k_zero3_facts = zero("fsdp2");

}  // namespace shardlab
