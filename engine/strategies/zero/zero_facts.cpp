// DeepSpeed's ZeRO: names and keys are known, schedules are not built yet.
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_keys[] = {"parallel.zero"};
constexpr StrategyFacts k_zero_facts{.keys = k_keys, .float16_scaler = "LossScaler"};

}  // namespace

extern constexpr StrategyFacts k_zero1_facts = k_zero_facts;
extern constexpr StrategyFacts k_zero2_facts = k_zero_facts;
extern constexpr StrategyFacts k_zero3_facts = k_zero_facts;

}  // namespace shardlab
