#include "engine/strategies/zero3/leaf_gradients.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/scenario/zero_options.h"
#include "engine/strategies/gradient_order.h"

namespace shardlab {
namespace {

bool is_trained(const ModelGraph& graph, const std::vector<ParameterId>& parameters) {
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](ParameterId parameter) { return graph.parameter(parameter).requires_grad; });
}

// So do the layers of transformers 5.23, whatever the family, where their attention has this name.
bool is_called_by_keyword(const Module& module) {
  return module.path.ends_with("self_attn");
}

// Whether segments of other units use one of these as well.
bool is_used_outside(const Partition& partition, UnitId unit, const std::vector<ParameterId>& parameters) {
  return std::any_of(partition.segments.begin(), partition.segments.end(), [&](const Segment& segment) {
    return segment.unit != unit &&
           std::any_of(segment.parameters.begin(), segment.parameters.end(), [&](ParameterId used) {
             return std::binary_search(parameters.begin(), parameters.end(), used);
           });
  });
}

std::string why_too_early(const ModelGraph& graph, const Partition& partition, UnitId id,
                          const std::vector<ParameterId>& parameters) {
  const Unit& unit = partition.unit(id);
  if (is_called_by_keyword(graph.module(unit.modules.front())))
    return "transformers calls it with keywords alone, of which torch's hook sees nothing";
  if (!unit.inputs_require_grad) return "nothing before it is trained";
  if (is_used_outside(partition, id, parameters)) return "a parameter of it is tied to one outside";
  return {};
}

}  // namespace

std::vector<OperatorId> reducing_operators(const ModelGraph& graph, const Partition& partition,
                                           const ModuleReads& reads) {
  std::vector<OperatorId> ready = completing_operators(graph);
  for (std::size_t i = 0; i < partition.units.size(); ++i) {
    const auto id = make_id<UnitId>(i);
    const Unit& unit = partition.unit(id);
    if (!reads.is_leaf(id) || unit.segments.empty()) continue;
    for (const ParameterId parameter : reads.of(id))
      ready[parameter.index()] = partition.segment(unit.segments.front()).begin;
  }
  return ready;
}

Status check_leaf_gradients(const Scenario& scenario, const ModelGraph& graph, const Partition& partition) {
  const ModuleReads reads(graph, partition, zero_options(scenario).leaf_module);
  for (std::size_t i = 0; i < partition.units.size(); ++i) {
    const auto id = make_id<UnitId>(i);
    if (!reads.is_leaf(id) || !is_trained(graph, reads.of(id))) continue;
    const std::string why = why_too_early(graph, partition, id, reads.of(id));
    if (why.empty()) continue;
    return bad_input("parallel.zero",
                     fmt::format("leaf_module: DeepSpeed 0.19.8 takes the gradients of {} before they are "
                                 "there: {}",
                                 partition.unit(id).path(graph), why),
                     "leave this module out; leaf_module: {classes: []} makes none a leaf");
  }
  return {};
}

}  // namespace shardlab
