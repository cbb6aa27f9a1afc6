#include "engine/doctor/job/unit_facts.h"

#include <algorithm>
#include <set>

#include "engine/plan/unit_sizes.h"

namespace shardlab {
namespace {

constexpr double k_largest_share = 0.25, k_root_share = 0.5;  // of the model's elements

}  // namespace

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

std::optional<UnitId> giant_unit(const PlannedScenario& planned) {
  const StepPlan& plan = planned.plan.steady;
  const double model = static_cast<double>(stored_elements(planned.graph));
  const std::vector<Bytes> gathered = gathered_bytes(plan);
  std::optional<UnitId> largest;
  for (std::size_t i = 0; i < planned.partition.units.size(); ++i) {
    const auto id = make_id<UnitId>(i);
    const Unit& unit = planned.partition.units[i];
    if (unit.teacher || unit.ignored || gathered[i].value == 0) continue;
    const double share = static_cast<double>(plan.units[i].elements) / model;
    if (share <= (id == Partition::root() ? k_root_share : k_largest_share)) continue;
    if (layers_in(planned.graph, unit) < 2) continue;
    if (!largest || plan.units[i].elements > plan.units[largest->index()].elements) largest = id;
  }
  return largest;
}

bool gathers(const StepPlan& plan) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer& buffer) {
    return buffer.buffer_class == BufferClass::gathered_parameters;
  });
}

}  // namespace shardlab
