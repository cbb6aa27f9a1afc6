// attention of Falcon with alibi as transformers computes it by default, with sdpa (5.23,
// modeling_falcon.py): a fused kernel that is handed one matrix of biases for each head, alibi with the later
// keys at the lowest number of the dtype. Inputs: q, k and v in one (Packing::groups, a key-value head for
// each query head); the matrices, a constant [batch, heads, sequence, sequence] in q's dtype, which all
// layers share. Attributes of attention.
//
// Keeps what attention keeps, as torch's memory-efficient kernel does. It does not know that half of the
// matrix is hidden: executed FLOPs are those of all pairs, MFU counts those that causality leaves. Backward
// as autograd has it: the gradients of q, k and v apart, and of each the whole input's, zeros with the part
// in them.
#include <algorithm>

#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

void count_all_pairs(std::vector<Work>& works, Bytes mask) {
  for (Work& work : works) {
    work.flops = work.flops * 2;
    work.bytes += mask;
  }
}

// Behind the kernel, whose gradients of q, k and v `steps` makes.
EagerSteps backward_steps(Bytes whole) {
  const Bytes part = whole / 3;
  EagerSteps steps;
  steps.take(whole);
  steps.kernel(whole);     // zeros
  steps.kernel(part * 2);  // v in them
  steps.give(part);
  for (int i = 0; i < 2; ++i) {  // k, then q
    steps.make(whole, whole);
    steps.kernel(part * 2);
    steps.give(part);
    steps.kernel(whole * 3);
    steps.give(whole);
  }
  return steps;
}

OperatorDescription describe_eager_masked_attention(const ModelGraph& graph, const Operator& op) {
  const Tensor &packed = graph.tensor(op.inputs[0]), &mask = graph.tensor(op.inputs[1]);
  OperatorDescription description = k_attention.describe(graph, op);
  count_all_pairs(description.forward, mask.bytes());
  count_all_pairs(description.backward, mask.bytes());
  const EagerSteps steps = backward_steps(packed.bytes());
  for (const Work& work : steps.works()) description.backward.push_back(work);
  description.backward_temporaries = steps.peak();
  // The kernel for processors adds biases by key, which it takes from the last query's row; its scratch
  // memory is gone when whole gradients are made.
  const Bytes by_key = bytes_of(op.attributes.get(attribute::k_heads) * packed.shape[1], DType::float32);
  const Bytes beside = by_key + description.backward_workspace;
  description.forward_workspace += by_key;
  description.backward_workspace = std::max(beside, steps.peak()) - steps.peak();
  return description;
}

}  // namespace

extern const OperatorType k_eager_masked_attention{
    .name = "eager_masked_attention",
    .describe = describe_eager_masked_attention,
    .category = OperatorCategory::attention,
    .table_in_own_dtype = true,
};

}  // namespace shardlab
