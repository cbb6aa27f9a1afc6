// Which modules without parameters are entered on the way to one that has some.
//
// DeepSpeed's hooks hang on every module, and each that is entered may gather ahead
// (runtime/zero/parameter_offload.py, 0.19.8). Containers are entered before the first of what is in them, in
// backward before the last. Modules that hold nothing at all (activations, rotary tables) are entered after
// the first of their neighbours, as the code of transformers 5.23 calls them; rotary tables need no gradient.
// Around a model with adapters stand PeftModel and LoraModel; the latter calls the model's forward without
// its hooks (peft 0.21, get_peft_model): two modules are entered where else one is.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "engine/model/partition.h"

namespace shardlab {

class ModuleWalk {
 public:
  // Both must outlive this.
  ModuleWalk(const ModelGraph& graph, const Partition& partition)
      : graph_(graph),
        partition_(partition),
        is_adapted_(std::any_of(graph.parameters.begin(), graph.parameters.end(),
                                [](const Parameter& parameter) { return parameter.adapter; })) {}

  void begin();  // a micro-batch

  // How many modules without parameters are entered up to this unit's module, itself among them.
  int forward(UnitId unit);
  int backward(UnitId unit);

 private:
  // The unit's module and those around it that have a forward, the model first.
  std::vector<ModuleId> chain_of(UnitId unit) const;
  // Leaves what is open and not around the unit; the place in the chain of the first that is entered anew.
  std::size_t close_others(const std::vector<ModuleId>& chain);
  bool is_empty(ModuleId module) const {
    return graph_.module(module).parameters.empty() && graph_.module(module).looks_at.empty();
  }
  // How many enters of modules without parameters it is to enter this one.
  int without_parameters(ModuleId module) const;
  int leaves_in(ModuleId module, bool with_gradient) const;

  const ModelGraph& graph_;
  const Partition& partition_;
  const bool is_adapted_;
  std::vector<ModuleId> open_;  // that were entered and not left, the model first
  bool in_backward_ = false;
  std::map<ModuleId, int> entered_;           // how many children, since the module was entered
  std::map<ModuleId, ModuleId> first_child_;  // in forward
};

}  // namespace shardlab
