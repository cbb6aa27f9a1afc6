#include "engine/strategies/checkpointing.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace shardlab {
namespace {

bool is_inside(const ModelGraph& graph, ModuleId module, ModuleId ancestor) {
  for (std::optional<ModuleId> id = module; id; id = graph.module(*id).parent) {
    if (*id == ancestor) return true;
  }
  return false;
}

// A trained parameter of the region that belongs to a unit around it.
std::optional<ParameterId> shared_parameter(const ModelGraph& graph, const Partition& partition,
                                            const Region& region) {
  for (std::size_t i = region.first.index(); i <= region.last.index(); ++i) {
    for (const ParameterId parameter : partition.segments[i].parameters) {
      const Unit& unit = partition.unit(partition.unit_of_parameter[parameter.index()]);
      const bool own = is_inside(graph, unit.module, region.operators.module);
      if (!own && graph.parameter(parameter).requires_grad) return parameter;
    }
  }
  return std::nullopt;
}

// A reentrant checkpoint runs a backward of its own for each region: the flat parameter of a unit around
// several of them gets its gradient, is reduced and freed with the first. Seen with torch 2.11: the second
// region then finds no parameters.
Status check_flat_parameters(const ModelGraph& graph, const Partition& partition) {
  for (const Region& region : partition.regions) {
    const std::optional<ParameterId> shared = shared_parameter(graph, partition, region);
    if (!shared) continue;
    return bad_input("activation.reentrant",
                     fmt::format("{} is part of a unit around the checkpointed {}: fsdp1 would free that "
                                 "unit after the backward of the "
                                 "first region, and PyTorch fails in the next",
                                 graph.parameter(*shared).name, graph.module(region.operators.module).path),
                     "set activation.reentrant: false, or make each checkpointed layer a unit "
                     "(parallel.wrap.policy: transformer)");
  }
  return {};
}

bool is_unit(const Partition& partition, ModuleId module) {
  return std::any_of(partition.units.begin(), partition.units.end(),
                     [&](const Unit& unit) { return unit.module == module; });
}

}  // namespace

Result<std::vector<CheckpointRegion>> regions_of(const Scenario& scenario, ModelGraph& graph) {
  const ActivationSpec& spec = scenario.activation;
  if (spec.checkpoint == ActivationCheckpoint::none) return std::vector<CheckpointRegion>{};
  SHARDLAB_TRY(
      std::vector<CheckpointRegion> regions,
      checkpoint_regions(graph, spec.every, spec.placement == CheckpointPlacement::outside, spec.reentrant));
  if (spec.checkpoint != ActivationCheckpoint::selective) return regions;
  if (spec.reentrant)
    return bad_input("activation.reentrant", "PyTorch's selective checkpointing is not reentrant",
                     "remove it");
  std::vector<RetainedKind> kinds;
  for (const std::string& text : spec.operators) {
    SHARDLAB_TRY(const RetainedKind kind, parse_retained_kind(text));
    kinds.push_back(kind);
  }
  SHARDLAB_CHECK_OK(retain_operators(graph, regions, kinds));
  return regions;
}

Status check_regions(const Scenario& scenario, const ModelGraph& graph, const Partition& partition) {
  const ActivationSpec& spec = scenario.activation;
  const std::vector<Region>& regions = partition.regions;
  const bool any_unit = std::any_of(regions.begin(), regions.end(), [&](const Region& region) {
    return is_unit(partition, region.operators.module);
  });
  if (!regions.empty() && spec.placement == CheckpointPlacement::outside && !any_unit) {
    return bad_input("activation.placement",
                     "outside has no effect: none of the checkpointed layers is a unit",
                     "remove it, or make the layers units (parallel.wrap.policy: transformer)");
  }
  if (spec.reentrant && scenario.parallel.strategy == "fsdp1") return check_flat_parameters(graph, partition);
  return {};
}

}  // namespace shardlab
