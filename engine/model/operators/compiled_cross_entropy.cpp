// cross_entropy as torch.compile makes it of log_softmax and nll_loss (torch 2.11, Inductor): reductions over
// each row in float32, whatever the logits' dtype, without a tensor of logarithms. Inputs and output of
// cross_entropy.
//
// Keeps the logits and two float32 a row; backward writes the gradient beside the logits, in their dtype. Of
// the two, Inductor's largest logit and sum, our kernels need one, the log-sum-exp, and leave the other.
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_compiled_cross_entropy(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const std::int64_t rows = element_count(logits.shape) / logits.shape.back();
  OperatorDescription description;
  description.saved_inputs = 0b11;
  description.extras.push_back({"log_sum_exp", {rows}, DType::float32});
  description.extras.push_back({"largest", {rows}, DType::float32});
  description.forward.push_back(memory_work(logits.bytes()));
  description.backward.push_back(memory_work(logits.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_compiled_cross_entropy{
    .name = "compiled_cross_entropy",
    .describe = describe_compiled_cross_entropy,
    .probe = &k_loss_probe,
};

}  // namespace shardlab
