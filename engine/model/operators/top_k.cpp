// The k largest probabilities of each row of router logits [.., experts]: their weights [.., k], descending,
// and the experts they belong to, int64. Attribute: normalized, the weights of a row are made to add up to 1
// (then they are a softmax over the chosen logits alone). Softmax in float32; transformers 5,
// modeling_mixtral.py and modeling_qwen3_moe.py.
//
// Keeps weights and experts; without normalization the logits too, and one float32 log-sum-exp a row.
#include "engine/model/operators/work.h"

namespace shardlab {
namespace {

OperatorDescription describe_top_k(const ModelGraph& graph, const Operator& op) {
  const Tensor& logits = graph.tensor(op.inputs[0]);
  const Tensor& weights = graph.tensor(op.outputs[0]);
  const std::int64_t experts = logits.shape.back();
  OperatorDescription description;
  description.saved_outputs = 0b11;
  if (!op.attributes.get(attribute::k_normalized)) {
    description.saved_inputs = 0b1;
    description.extras.push_back({"log_sum_exp", {element_count(logits.shape) / experts}, DType::float32});
  }
  description.forward_workspace = bytes_of(experts, DType::float32);  // a row
  description.backward_workspace = bytes_of(experts, DType::float32);
  description.forward.push_back(memory_work(logits.bytes() + weights.bytes() * 2));
  description.backward.push_back(memory_work(logits.bytes() + weights.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_top_k{.name = "top_k", .describe = describe_top_k};

}  // namespace shardlab
