// Which modules without parameters are entered on the way to one that has some.
//
// DeepSpeed's hooks hang on every module, and each that is entered may gather ahead
// (runtime/zero/parameter_offload.py, 0.19.8). Containers are entered before the first of what is in them, in
// backward before the last. Modules that hold nothing at all (activations, rotary tables) are entered after
// the first of their neighbours, as the code of transformers 5.23 calls them; rotary tables need no gradient.
#pragma once

#include <map>
#include <vector>

#include "engine/model/partition.h"

namespace shardlab {

class ModuleWalk {
 public:
  // Both must outlive this.
  ModuleWalk(const ModelGraph& graph, const Partition& partition) : graph_(graph), partition_(partition) {}

  void begin();  // a micro-batch

  // How many modules without parameters are entered up to this unit's module, itself among them.
  int forward(UnitId unit);
  int backward(UnitId unit);

 private:
  // The unit's module and those around it that have a forward, the model first.
  std::vector<ModuleId> chain_of(UnitId unit) const;
  // Leaves what is open and not around the unit; the place in the chain of the first that is entered anew.
  std::size_t close_others(const std::vector<ModuleId>& chain);
  bool is_empty(ModuleId module) const { return graph_.module(module).parameters.empty(); }
  int leaves_in(ModuleId module, bool with_gradient) const;

  const ModelGraph& graph_;
  const Partition& partition_;
  std::vector<ModuleId> open_;  // that were entered and not left, the model first
  bool in_backward_ = false;
  std::map<ModuleId, int> entered_;           // how many children, since the module was entered
  std::map<ModuleId, ModuleId> first_child_;  // in forward
};

}  // namespace shardlab
