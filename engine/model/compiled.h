// What torch.compile makes of a model's operators, for those of a scenario with eager operators
// (model.compile).
//
// Inductor makes one kernel of a chain of memory-bound operators, and its partitioner keeps for backward only
// what products and attention read, and what a chain starts from: a chain is computed again (recorded with
// torch 2.11: a Llama block of hidden 64 keeps 126,464 bytes in place of 181,760). Our fused operators keep
// the same, so they stand for the compiled ones; the attribute `compiled` marks them. Products, attention and
// adapters' sums stay what they are.
#pragma once

#include <vector>

#include "engine/base/result.h"
#include "engine/model/choices.h"
#include "engine/model/model_graph.h"

namespace shardlab {

class CompiledPart {
 public:
  CompiledPart(const ModelGraph& graph, CompileScope scope);

  // Whether the operator lies in what is compiled, and is memory-bound.
  bool makes_one_kernel(const Operator& op) const;

 private:
  CompileScope scope_;
  std::vector<bool> in_block_;  // by module: a repeated layer or part of one
};

// Under tracing of the whole model the modules of transformers make a causal mask, and hand attention as many
// heads of keys and values as of queries (5.23, masking_utils.py and sdpa_attention.py, is_tracing). Other
// operators are left alone. Errors: attention that no operator with a mask describes.
Status hand_a_mask(const ModelGraph& graph, Operator& op);

}  // namespace shardlab
