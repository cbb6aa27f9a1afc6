#include "engine/report/unit_warnings.h"

#include <set>

#include <fmt/format.h>

#include "engine/plan/unit_sizes.h"
#include "engine/report/figures.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/precision_spec.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab {

namespace {

// The repeated layers that parameters of the unit lie in.
std::size_t layers_in(const ModelGraph& graph, const Unit& unit) {
  std::set<ModuleId> layers;
  for (const ParameterId id : unit.parameters) {
    for (std::optional<ModuleId> around = graph.parameter(id).module; around;
         around = graph.module(*around).parent) {
      if (graph.module(*around).class_name == graph.block_class) layers.insert(*around);
    }
  }
  return layers.size();
}

std::string how_long(const StepPlan& plan, const PlanUnit& unit, UnitId id) {
  const std::string module = unit.module_path.empty() ? "the model" : "'" + unit.module_path + "'";
  if (times_gathered(plan, id) <= plan.micro_batches) {
    return fmt::format("stay gathered from the beginning of the forward of {} to the end of its backward",
                       module);
  }
  return fmt::format("stay gathered during the whole forward of {}, and again during its whole backward",
                     module);
}

std::string warning(const PlannedScenario& planned, UnitId id, std::size_t layers) {
  const StepPlan& plan = planned.plan.steady;
  const PlanUnit& unit = plan.units[id.index()];
  const Bytes gathered = gathered_bytes(plan, id);
  const double share =
      static_cast<double>(unit.elements) / static_cast<double>(stored_elements(planned.graph));
  const std::int64_t layer = stored_elements_per_layer(planned.graph);
  const Bytes layer_bytes{gathered.value / unit.padded_elements * layer};
  return fmt::format(
      "{} is a giant unit: {} parameters out of {} layers, {} of the model. "
      "They are gathered at once and their {} {}. "
      "With a unit for each layer (policy transformer) it is {} at a time",
      unit.name, grouped(unit.elements), layers, percent(share), to_string(gathered),
      how_long(plan, unit, id), to_string(layer_bytes));
}

}  // namespace

std::vector<std::string> unit_warnings(const PlannedScenario& planned) {
  std::vector<std::string> warnings;
  const std::int64_t layer = stored_elements_per_layer(planned.graph);
  const std::vector<Bytes> gathered = gathered_bytes(planned.plan.steady);
  for (std::size_t i = 0; i < planned.partition.units.size(); ++i) {
    const auto id = make_id<UnitId>(i);
    if (gathered[i].value == 0 || planned.plan.steady.units[i].elements <= layer) continue;
    const std::size_t layers = layers_in(planned.graph, planned.partition.units[i]);
    if (layers > 1) warnings.push_back(warning(planned, id, layers));
  }
  return warnings;
}

Result<DeviceLimits> device_limits(const PlannedScenario& planned) {
  SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
  DeviceLimits limits;
  limits.peak = device.peak(planned.scenario.precision->autocast.value_or(planned.graph.compute_dtype));
  if (device.memory.value > 0) limits.memory = device.memory;
  if (device.host_memory.value > 0) limits.host_memory = device.host_memory;
  return limits;
}

}  // namespace shardlab
