// Which parameters ZeRO-3 gathers for a module.
//
// Source: DeepSpeed 0.19.8, runtime/zero/partitioned_param_coordinator.py (iter_params): those registered on
// a module, tied ones of other modules included, and those of modules below that it looks at itself
// (register_external_parameter); of a leaf module all that are below it as well.
#pragma once

#include <vector>

#include "engine/model/partition.h"
#include "engine/model/wrap/leaf_spec.h"

namespace shardlab {

class ModuleReads {
 public:
  // The partition must outlive this.
  ModuleReads(const ModelGraph& graph, const Partition& partition, const LeafSpec& leaves);

  bool is_leaf(ModuleId module) const { return leaves_[module.index()]; }
  bool is_leaf(UnitId unit) const { return is_leaf(module_of(unit)); }
  // Each once, in the order of definition: the module's own, and those of all below it too.
  const std::vector<ParameterId>& of(ModuleId module) const { return own_[module.index()]; }
  const std::vector<ParameterId>& of_all_below(ModuleId module) const { return below_[module.index()]; }
  // What entering the unit's module gathers.
  const std::vector<ParameterId>& of(UnitId unit) const {
    return is_leaf(unit) ? of_all_below(module_of(unit)) : of(module_of(unit));
  }

 private:
  ModuleId module_of(UnitId unit) const { return partition_.unit(unit).modules.front(); }

  const Partition& partition_;
  std::vector<bool> leaves_;                           // by ModuleId
  std::vector<std::vector<ParameterId>> own_, below_;  // by ModuleId
};

}  // namespace shardlab
