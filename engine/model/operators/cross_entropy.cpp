// Mean cross-entropy over all rows of logits [batch, sequence, vocabulary] against targets [batch, sequence];
// output: the scalar loss, float32. Arithmetic is float32 whatever the logits' dtype.
//
// Keeps the logits and one float32 log-sum-exp a row; backward writes the gradient over the logits.
#include "engine/model/operators/operator_list.h"
#include "engine/model/operators/probe_recipe.h"
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_cross_entropy(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const std::int64_t rows = element_count(logits.shape) / logits.shape.back();
  OperatorDescription description;
  description.saved_inputs = 0b11;
  description.overwritten_inputs = 0b01;
  description.extras.push_back({"log_sum_exp", {rows}, DType::float32});
  description.forward.push_back(memory_work(logits.bytes()));
  description.backward.push_back(memory_work(logits.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_cross_entropy{
    .name = "cross_entropy",
    .describe = describe_cross_entropy,
    .probe = &k_loss_probe,
    .common = true,
    .eager_type = &k_eager_cross_entropy,
};

}  // namespace shardlab
