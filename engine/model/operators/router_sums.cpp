// What the balancing loss needs to know of a layer's router: how many assignments each expert has, and the
// sum of its probabilities over the rows. Inputs: logits [.., experts], the experts chosen, int64 [.., k],
// and, behind another layer with experts, its sums, to which these are added. Output: [2, experts], float32:
// assignments, probabilities. Softmax in float32. transformers 5.23, load_balancing_loss_func, which adds up
// layer by layer too.
//
// Keeps the logits and one float32 log-sum-exp a row. Only probabilities have gradients; those of the sums go
// on to the layer before, as they are.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_router_sums(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const std::int64_t experts = logits.shape.back();
  OperatorDescription description;
  description.passed_gradients = 0b100;
  if (logits.requires_grad) {
    description.saved_inputs = 0b1;
    description.extras.push_back({"log_sum_exp", {element_count(logits.shape) / experts}, DType::float32});
    description.backward.push_back(memory_work(logits.bytes() * 2));
  }
  const Bytes sums = bytes_of(2 * experts, DType::float64);
  description.forward_workspace = sums + bytes_of(experts, DType::float32);  // and a row
  description.backward_workspace = bytes_of(experts, DType::float32);
  description.forward.push_back(memory_work(logits.bytes() + graph.tensor(op.inputs[1]).bytes()));
  return description;
}

}  // namespace

extern const OperatorType k_router_sums{.name = "router_sums", .describe = describe_router_sums};

}  // namespace shardlab
