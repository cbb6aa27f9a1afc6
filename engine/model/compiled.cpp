#include "engine/model/compiled.h"

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {

CompiledPart::CompiledPart(const ModelGraph& graph, CompileScope scope)
    : scope_(scope), in_block_(graph.modules.size(), false) {
  if (scope != CompileScope::blocks) return;
  for (std::size_t i = 0; i < graph.modules.size(); ++i) {  // a module comes after the one that holds it
    const Module& module = graph.modules[i];
    in_block_[i] =
        module.class_name == graph.block_class || (module.parent && in_block_[module.parent->index()]);
  }
}

bool CompiledPart::makes_one_kernel(const Operator& op) const {
  if (op.type->category != OperatorCategory::memory_bound) return false;
  // Rows that hold queries, keys and values are repeated on the way to attention, which reads what that
  // makes.
  if (op.type == &k_rope && op.attributes.get_or(attribute::k_turned, 0) != 0) return false;
  if (op.type == &k_cross_entropy) return false;
  return scope_ == CompileScope::whole || (scope_ == CompileScope::blocks && in_block_[op.module.index()]);
}

Status hand_a_mask(const ModelGraph& graph, Operator& op) {
  if (op.type != &k_attention || op.attributes.get_or(attribute::k_window, 0) > 0) return {};
  const bool separate = op.attributes.get_or(attribute::k_packed, Packing::separate) == Packing::separate;
  if (op.inputs.size() == 3 && separate && op.attributes.get_or(attribute::k_soft_cap, 0) == 0) {
    op.attributes.set(attribute::k_window, graph.sequence_length);
    return {};
  }
  return bad_input("model.compile",
                   "not supported yet for " + graph.family +
                       ": whole: its attention has no form that is handed a causal mask",
                   "use blocks");
}

}  // namespace shardlab
