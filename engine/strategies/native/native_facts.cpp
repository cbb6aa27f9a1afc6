// What a scenario asks about our own schedule.
#include "engine/scenario/model_spec.h"
#include "engine/scenario/scenario.h"
#include "engine/scenario/strategy_facts.h"

namespace shardlab {
namespace {

constexpr std::string_view k_keys[] = {
    "parallel.reshard_after_forward",   "parallel.wrap",    "parallel.prefetch.forward_depth",
    "parallel.prefetch.backward_depth", "precision.output", "precision.cast_forward_inputs",
};

std::vector<NotBuilt> not_built(const Scenario& scenario) {
  std::vector<NotBuilt> missing;
  const ModelSpec& model = *scenario.model;
  if (!model.frozen.empty())
    missing.push_back({"model.frozen", "frozen parameters with native", "parallel.strategy: fsdp2"});
  if (model.lora.rank != 0)
    missing.push_back({"model.lora", "adapters with native", "parallel.strategy: fsdp2"});
  return missing;
}

}  // namespace

extern constexpr StrategyFacts k_native_facts{
    .framework = Framework::shardlab,
    .keys = k_keys,
    .gathers_units = true,
    .casts_units = true,
    .saves_by_parameter = true,
    .why_no_subgroups = "native keeps parameters whole or spreads them over all sharding ranks",
    .why_root_stays = "it never frees parameters that backward needs first",
    .proposed = false,  // it is not what people have
    .updates_in_backward = true,
    .not_built = not_built,
};

}  // namespace shardlab
