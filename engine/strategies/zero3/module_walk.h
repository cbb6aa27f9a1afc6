// Which modules that gather nothing are entered on the way to one that gathers.
//
// DeepSpeed's hooks hang on every module, and each that is entered may gather ahead
// (runtime/zero/parameter_offload.py, 0.19.8). Containers are entered before the first of what is in them, in
// backward before the last. Modules that hold nothing at all (activations, rotary tables) are entered after
// the first of their neighbours, as the code of transformers 5.23 calls them; rotary tables need no gradient.
// Around a model with adapters stand PeftModel and LoraModel; the latter calls the model's forward without
// its hooks (peft 0.21, get_peft_model): two modules are entered where else one is. What is below a leaf
// module has no hooks.
#pragma once

#include <map>
#include <vector>

#include "engine/model/lora/add_adapters.h"
#include "engine/model/partition.h"
#include "engine/strategies/zero3/module_reads.h"

namespace shardlab {

class ModuleWalk {
 public:
  // All must outlive this.
  ModuleWalk(const ModelGraph& graph, const Partition& partition, const ModuleReads& reads)
      : graph_(graph), partition_(partition), reads_(reads), is_adapted_(has_adapters(graph)) {}

  void begin();  // a micro-batch

  // Those that are entered up to this unit's module, in order, itself among them; one may come twice.
  std::vector<ModuleId> forward(UnitId unit);
  std::vector<ModuleId> backward(UnitId unit);

 private:
  // The unit's module and those around it that have a forward, the model first.
  std::vector<ModuleId> chain_of(UnitId unit) const;
  // Leaves what is open and not around the unit; the place in the chain of the first that is entered anew.
  std::size_t close_others(const std::vector<ModuleId>& chain);
  bool gathers(ModuleId module) const { return reads_.is_leaf(module) || !reads_.of(module).empty(); }
  void enter(ModuleId module, std::vector<ModuleId>& entered) const;
  // What holds nothing at all, of this module and its containers.
  void enter_hollow(ModuleId module, bool with_gradient, std::vector<ModuleId>& entered) const;

  const ModelGraph& graph_;
  const Partition& partition_;
  const ModuleReads& reads_;
  const bool is_adapted_;
  std::vector<ModuleId> open_;  // that were entered and not left, the model first
  bool in_backward_ = false;
  std::map<ModuleId, int> entered_;           // how many children, since the module was entered
  std::map<ModuleId, ModuleId> first_child_;  // in forward
};

}  // namespace shardlab
