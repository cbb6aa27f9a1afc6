#include "engine/model/precision/unit_borders.h"

#include <algorithm>

#include "engine/model/loss_operators.h"

namespace shardlab {
namespace {

bool contains(std::span<const ModuleId> units, ModuleId unit) {
  return std::find(units.begin(), units.end(), unit) != units.end();
}

bool is_float_activation(const Tensor& tensor) {
  return tensor.role == TensorRole::activation && is_floating_point(tensor.dtype);
}

void push_unique(std::vector<TensorId>& list, TensorId tensor) {
  if (std::find(list.begin(), list.end(), tensor) == list.end()) list.push_back(tensor);
}

}  // namespace

UnitBorders::UnitBorders(const ModelGraph& graph, const std::map<ModuleId, UnitPrecision>& units,
                         std::span<const JoinedModules> joined)
    : graph_(graph), units_around_(graph.modules.size()), producer_(graph.tensors.size()) {
  std::map<ModuleId, ModuleId> unit_of;
  for (const auto& [unit, precision] : units) unit_of.emplace(unit, unit);
  for (const JoinedModules& modules : joined) {
    for (const ModuleId module : modules) unit_of[module] = modules.front();
  }
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {
    const auto id = make_id<ModuleId>(i);
    if (const auto unit = unit_of.find(id); unit != unit_of.end()) units_around_[i].push_back(unit->second);
    const std::optional<ModuleId> parent = graph.modules[i].parent;
    if (parent)
      units_around_[i].insert(units_around_[i].end(), units_around(*parent).begin(),
                              units_around(*parent).end());
  }
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    const auto op = make_id<OperatorId>(i);
    for (const TensorId output : graph.operators[i].outputs) producer_[output.index()] = op;
    for (const ModuleId unit : units_around(op)) {
      extents_.try_emplace(unit, Extent{op, op});
      extents_[unit].last = op;
    }
  }
}

std::span<const ModuleId> UnitBorders::units_around(OperatorId op) const {
  if (makes_loss(graph_, graph_.op(op))) return {};
  return units_around(graph_.op(op).module);
}

std::span<const ModuleId> UnitBorders::units_around(TensorId tensor) const {
  const std::optional<OperatorId> producer = producer_[tensor.index()];
  return producer ? units_around(*producer) : std::span<const ModuleId>();
}

bool UnitBorders::runs_in(OperatorId op, ModuleId unit) const {
  return contains(units_around(op), unit);
}

std::vector<ModuleId> UnitBorders::entered_at(OperatorId op) const {
  std::vector<ModuleId> entered;
  for (const ModuleId unit : units_around(op)) {
    if (extents_.at(unit).first == op) entered.insert(entered.begin(), unit);
  }
  return entered;
}

std::vector<ModuleId> UnitBorders::left_at(OperatorId op) const {
  std::vector<ModuleId> left;
  for (const ModuleId unit : units_around(op)) {
    if (extents_.at(unit).last == op) left.push_back(unit);
  }
  return left;
}

std::vector<TensorId> UnitBorders::inputs_of(ModuleId unit) const {
  std::vector<TensorId> inputs;
  const Extent& extent = extents_.at(unit);
  for (OperatorId op = extent.first; op <= extent.last; ++op.value) {
    if (!runs_in(op, unit)) continue;
    for (const TensorId input : graph_.op(op).inputs) {
      if (is_float_activation(graph_.tensor(input)) && !contains(units_around(input), unit))
        push_unique(inputs, input);
    }
  }
  return inputs;
}

std::vector<TensorId> UnitBorders::outputs_of(ModuleId unit) const {
  std::vector<TensorId> outputs;
  for (std::size_t i = extents_.at(unit).last.index() + 1; i < graph_.operators.size(); ++i) {
    for (const TensorId input : graph_.operators[i].inputs) {
      if (is_float_activation(graph_.tensor(input)) && contains(units_around(input), unit))
        push_unique(outputs, input);
    }
  }
  std::sort(outputs.begin(), outputs.end());
  return outputs;
}

}  // namespace shardlab
