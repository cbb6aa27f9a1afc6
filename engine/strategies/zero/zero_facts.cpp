// DeepSpeed's ZeRO: names and keys are known, schedules are not built yet.
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_keys[] = {"parallel.zero"};
constexpr UnsupportedKey k_unsupported[] = {{"parallel.zero", "leave it out, with parallel.strategy: fsdp2"}};
constexpr LooseName k_loose_names[] = {{"zero", ""}, {"deepspeed", ""}};
constexpr std::string_view k_aliases_1[] = {"zero-1", "zero_1"};
constexpr std::string_view k_aliases_2[] = {"zero-2", "zero_2"};
constexpr std::string_view k_aliases_3[] = {"zero-3", "zero_3"};

constexpr StrategyFacts zero_facts(std::span<const std::string_view> aliases, std::string_view nearest) {
  return {.keys = k_keys,
          .aliases = aliases,
          .loose_names = k_loose_names,
          .float16_scaler = "LossScaler",
          .unsupported = k_unsupported,
          .nearest_built = nearest};
}

}  // namespace

extern constexpr StrategyFacts k_zero1_facts =
    zero_facts(k_aliases_1, "fsdp1 with parallel.sharding: shard_grad_op");
extern constexpr StrategyFacts k_zero2_facts =
    zero_facts(k_aliases_2, "fsdp1 with parallel.sharding: shard_grad_op");
extern constexpr StrategyFacts k_zero3_facts = zero_facts(k_aliases_3, "fsdp2");

}  // namespace shardlab
