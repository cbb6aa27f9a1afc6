// attention of queries that lie head by head, as Phi's do, whose turned and passed parts are put together
// (transformers 5.23, modeling_phi.py): flash attention and cuDNN's kernel lay out their output as the
// queries (torch 2.11, empty_like and alloc_with_matching_layout), so that putting heads side by side is a
// copy. Inputs and attributes of attention.
//
// Keeps what attention keeps, its output as the kernel wrote it. Backward first copies that once more, to the
// layout of the gradient (attention_backward.cu, out.contiguous(); MHA.cpp where strides differ).
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_eager_copied_attention(const ModelGraph& graph, const Operator& op) {
  OperatorDescription description = k_attention.describe(graph, op);
  const Tensor& output = graph.tensor(op.outputs[0]);
  const Work copy = memory_work(output.bytes() * 2);
  description.saved_outputs = 0;
  description.extras.push_back({"by_head", output.shape, output.dtype});
  description.forward.push_back(copy);
  description.backward.push_back(copy);
  description.backward_temporaries = output.bytes();
  return description;
}

}  // namespace

extern const OperatorType k_eager_copied_attention{
    .name = "eager_copied_attention",
    .describe = describe_eager_copied_attention,
    .category = OperatorCategory::attention,
    .autocast = AutocastRule::lower,
};

}  // namespace shardlab
