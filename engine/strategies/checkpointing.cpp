#include "engine/strategies/checkpointing.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "engine/scenario/offload_spec.h"
#include "engine/scenario/strategy_facts.h"
#include "engine/strategies/strategy.h"

namespace shardlab {
namespace {

bool is_inside(const ModelGraph& graph, ModuleId module, ModuleId ancestor) {
  for (std::optional<ModuleId> id = module; id; id = graph.module(*id).parent) {
    if (*id == ancestor) return true;
  }
  return false;
}

bool is_unit(const Partition& partition, ModuleId module) {
  return std::any_of(partition.units.begin(), partition.units.end(), [&](const Unit& unit) {
    return std::find(unit.modules.begin(), unit.modules.end(), module) != unit.modules.end();
  });
}

// The hooks of joined modules count which of them have run: a recomputation runs some of them again, and
// stops early inside one.
Status check_joined_units(const ModelGraph& graph, const Partition& partition) {
  for (const Region& region : partition.regions) {
    for (const Unit& unit : partition.units) {
      if (unit.modules.size() == 1) continue;
      for (const ModuleId module : unit.modules) {
        const bool itself = module == region.operators.module;
        if (!is_inside(graph, module, region.operators.module) || (itself && !region.operators.around_unit))
          continue;
        return bad_input(
            "parallel.wrap.together",
            fmt::format("not supported yet: {} of {} runs inside the checkpoint of {}",
                        graph.module(module).path, unit.path(graph),
                        graph.module(region.operators.module).path),
            itself ? "set activation.placement: inside" : "join modules outside of checkpointed layers");
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<CheckpointRegion>> regions_of(const Scenario& scenario, ModelGraph& graph) {
  const ActivationSpec& spec = *scenario.activation;
  if (spec.checkpoint == ActivationCheckpoint::none) return std::vector<CheckpointRegion>{};
  SHARDLAB_TRY(
      std::vector<CheckpointRegion> regions,
      checkpoint_regions(graph, spec.every, spec.placement == CheckpointPlacement::outside, spec.reentrant));
  if (spec.checkpoint != ActivationCheckpoint::selective) return regions;
  if (spec.reentrant)
    return bad_input("activation.reentrant", "PyTorch's selective checkpointing is not reentrant",
                     "remove it");
  SHARDLAB_TRY(const std::vector<RetainedKind> kinds, parse_retained_kinds(spec.operators));
  SHARDLAB_CHECK_OK(retain_operators(graph, regions, kinds));
  return regions;
}

Status check_regions(const Scenario& scenario, const ModelGraph& graph, const Partition& partition) {
  const ActivationSpec& spec = *scenario.activation;
  const std::vector<Region>& regions = partition.regions;
  const bool any_unit = std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
    return is_unit(partition, region.operators.module);
  });
  if (!regions.empty() && spec.placement == CheckpointPlacement::outside && !any_unit) {
    return bad_input("activation.placement",
                     "outside has no effect: none of the checkpointed layers is a unit",
                     "remove it, or make the layers units (parallel.wrap.policy: transformer)");
  }
  SHARDLAB_CHECK_OK(check_joined_units(graph, partition));
  const StrategyType* const strategy = strategy_named(strategy_name(scenario));
  if (strategy == nullptr || strategy->check_regions == nullptr) return {};
  return strategy->check_regions(scenario, graph, partition);
}

}  // namespace shardlab
