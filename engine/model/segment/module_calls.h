// How long Python's calls of modules hold on to what they were called with. Private to this folder.
#pragma once

#include "engine/model/model_graph.h"

namespace shardlab {

// torch.nn.Module's __call__ hands its arguments on as a tuple, which lives until forward returns (torch
// 2.11, nn/modules/module.py _wrapped_call_impl): a tensor that a module was called with is there as long as
// the module computes, whoever reads it last. It shows where autograd keeps nothing of it: behind frozen
// weights, and in the first forward of a checkpointed region. Our own operators know no such calls.
class ModuleCalls {
 public:
  // Looks at operators before `stop`.
  ModuleCalls(const ModelGraph& graph, OperatorId stop)
      : graph_(graph), stop_(stop), eager_(graph.implementation == Implementation::eager) {}

  // The last operator of the outermost module that runs `reader` and not `maker`; `reader` where there is
  // none.
  OperatorId end_of(OperatorId maker, OperatorId reader) const;

 private:
  const ModelGraph& graph_;
  OperatorId stop_;
  bool eager_;
};

}  // namespace shardlab
