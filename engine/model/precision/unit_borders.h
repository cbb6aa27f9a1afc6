// Where execution enters and leaves units, and which tensors cross. Private to this folder.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/model/model_graph.h"
#include "engine/model/unit_settings.h"
#include "engine/model/wrap/joined_modules.h"

namespace shardlab {

class UnitBorders {
 public:
  UnitBorders(const ModelGraph& graph, const std::map<ModuleId, UnitPrecision>& units,
              std::span<const JoinedModules> joined);

  // The units around a module, innermost first; the module itself counts when it is one. Joined modules are
  // known by the first of them.
  const std::vector<ModuleId>& units_around(ModuleId module) const { return units_around_[module.index()]; }
  // The units around an operator. What makes the loss or a part of it from logits runs outside of all units.
  std::span<const ModuleId> units_around(OperatorId op) const;
  // The units around a tensor's producer; none for batches and constants.
  std::span<const ModuleId> units_around(TensorId tensor) const;

  // Units whose first, and whose last, operator this is; outer ones first, and inner ones first.
  std::vector<ModuleId> entered_at(OperatorId op) const;
  std::vector<ModuleId> left_at(OperatorId op) const;

  // Floating-point activations made outside the unit and read inside, in order of the first reading; made
  // inside and read after it, in order of production.
  std::vector<TensorId> inputs_of(ModuleId unit) const;
  std::vector<TensorId> outputs_of(ModuleId unit) const;

 private:
  bool runs_in(OperatorId op, ModuleId unit) const;

  struct Extent {
    OperatorId first, last;
  };
  const ModelGraph& graph_;
  std::vector<std::vector<ModuleId>> units_around_;  // by ModuleId
  std::vector<std::optional<OperatorId>> producer_;  // by TensorId
  std::map<ModuleId, Extent> extents_;               // of units that run operators
};

}  // namespace shardlab
