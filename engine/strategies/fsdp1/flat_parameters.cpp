#include "engine/strategies/fsdp1/flat_parameters.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/model/freeze.h"
#include "engine/scenario/offload_spec.h"
#include "engine/scenario/parallel_spec.h"

namespace shardlab::fsdp1 {
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
      const bool own = is_inside(graph, unit.modules.front(), region.operators.module);
      if (!own && graph.parameter(parameter).requires_grad) return parameter;
    }
  }
  return std::nullopt;
}

}  // namespace

Status require_gradients(ModelGraph& graph, const Scenario& scenario, const Partition& partition) {
  for (const Unit& unit : partition.units) {
    const auto trainable = [&](ParameterId id) { return graph.parameter(id).trainable; };
    const auto trained = std::count_if(unit.parameters.begin(), unit.parameters.end(), trainable);
    const bool mixed = trained > 0 && trained < static_cast<std::ptrdiff_t>(unit.parameters.size());
    if (!mixed || scenario.parallel->use_orig_params) continue;
    const auto frozen = std::find_if_not(unit.parameters.begin(), unit.parameters.end(), trainable);
    return bad_input(
        "parallel.use_orig_params",
        fmt::format("false flattens {} into one parameter, of which {} is frozen and others are not",
                    unit.name, graph.parameter(*frozen).name),
        "set it to true, or let parallel.wrap make units that are frozen as a whole");
  }
  require_gradients_by_unit(graph, partition.unit_of_parameter);
  return {};
}

Status check_regions(const Scenario& scenario, const ModelGraph& graph, const Partition& partition) {
  if (!scenario.activation->reentrant) return {};
  for (const Region& region : partition.regions) {
    const std::optional<ParameterId> shared = shared_parameter(graph, partition, region);
    if (!shared) continue;
    return bad_input("activation.reentrant",
                     fmt::format("{} is part of a unit around the checkpointed {}: fsdp1 would free that "
                                 "unit after the backward of the first region, and PyTorch fails in the next",
                                 graph.parameter(*shared).name, graph.module(region.operators.module).path),
                     "set activation.reentrant: false, or make each checkpointed layer a unit "
                     "(parallel.wrap.policy: transformer)");
  }
  return {};
}

bool is_run_by_reentrant_backward(const Partition& partition, UnitId unit) {
  const auto of_unit = [&](ParameterId parameter) {
    return partition.unit_of_parameter[parameter.index()] == unit;
  };
  return std::any_of(partition.segments.begin(), partition.segments.end(), [&](const Segment& segment) {
    return segment.region && partition.region(*segment.region).operators.reentrant &&
           std::any_of(segment.parameters.begin(), segment.parameters.end(), of_unit);
  });
}

}  // namespace shardlab::fsdp1
