// y = x with a share of its elements, chosen at random, set to zero and the others divided by what is left:
// torch.nn.Dropout in training. Attribute: dropout, the share.
//
// torch 2.11 on a GPU (native_dropout, ATen/native/cuda/Dropout.cu): one kernel, which writes a mask of a
// byte an element before it writes y; backward reads that and not x. Where no gradient flows the mask is gone
// with the kernel.
#include "engine/model/operators/eager_steps.h"
#include "engine/model/operators/operator_list.h"

namespace shardlab {
namespace {

OperatorDescription describe_dropout(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Bytes mask = bytes_of(element_count(x.shape), DType::uint8), traffic = x.bytes() * 2 + mask;
  OperatorDescription description;
  EagerSteps forward, backward;
  if (x.requires_grad) {
    description.extras.push_back({"mask", x.shape, DType::uint8});
    forward.result_follows(1);  // the mask
    backward.kernel(traffic);
  } else {
    forward.take(mask);
  }
  forward.result_follows(0);
  forward.kernel(traffic);
  if (!x.requires_grad) forward.give(mask);
  describe_forward(description, forward);
  describe_backward(description, backward);
  return description;
}

}  // namespace

extern const OperatorType k_dropout{
    .name = "dropout",
    .describe = describe_dropout,
    .drops = true,
};

}  // namespace shardlab
