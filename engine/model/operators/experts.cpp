// Mixture of experts: choosing, sending rows to experts and back, and what routers add to the loss.
#include "engine/model/operators/work.h"

namespace shardlab {

// Rows for experts: of x [batch, sequence, width] each row once for each of its k experts [batch, sequence,
// k], equal experts together, in order of position. Outputs: rows [assignments, width]; the place of each
// assignment (row, slot) among them, int64; the rows of each expert, int64 [experts]. No assignment is
// dropped and no row is padded, so sizes do not depend on how the load is spread.
//
// Keeps the places. Backward sums a row's copies.

namespace {

OperatorDescription describe_dispatch(const ModelGraph& graph, const Operator& op) {
  const Tensor& x = graph.tensor(op.inputs[0]);
  const Tensor& rows = graph.tensor(op.outputs[0]);
  const Tensor& counts = graph.tensor(op.outputs[2]);
  OperatorDescription description;
  description.saved_outputs = 0b010;
  description.forward_workspace = counts.bytes();  // where the next row of each expert goes
  description.backward_workspace = bytes_of(x.shape.back(), DType::float32);  // one row of sums
  description.forward.push_back(memory_work(rows.bytes() * 2 + graph.tensor(op.outputs[1]).bytes()));
  description.backward.push_back(memory_work(rows.bytes() + x.bytes()));
  return description;
}

}  // namespace

extern const OperatorType k_dispatch{
    .name = "dispatch",
    .describe = describe_dispatch,
    .expert_counts = 2,
};

// y[row] = sum over its k experts of weight * result: the way back of dispatch. Inputs: results of the
// experts [assignments, width], weights [batch, sequence, k], places as dispatch made them.
//
// Keeps all three: the weights' gradients need the results. Backward computes both gradients together.

namespace {

OperatorDescription describe_combine(const ModelGraph& graph, const Operator& op) {
  const Tensor& results = graph.tensor(op.inputs[0]);
  const Tensor& weights = graph.tensor(op.inputs[1]);
  const Tensor& y = graph.tensor(op.outputs[0]);
  OperatorDescription description;
  description.saved_inputs = weights.requires_grad ? 0b111 : 0b110;
  description.forward_workspace = bytes_of(y.shape.back(), DType::float32);  // one row of sums
  description.forward.push_back(memory_work(results.bytes() + y.bytes()));
  description.backward.push_back(memory_work(results.bytes() * 2 + y.bytes()));
  return description;
}

}  // namespace

extern const OperatorType k_combine{.name = "combine", .describe = describe_combine};

// The k largest probabilities of each row of router logits [.., experts]: their weights [.., k], descending,
// and the experts they belong to, int64. Attribute: normalized, the weights of a row are made to add up to 1
// (then they are a softmax over the chosen logits alone). Softmax in float32; transformers 5,
// modeling_mixtral.py and modeling_qwen3_moe.py.
//
// Keeps weights and experts; without normalization the logits too, and one float32 log-sum-exp a row.

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

// The balancing loss of routers added to the model's: y = loss + weight * experts * sum over experts of
// (assignments / rows) * (probabilities / rows). Inputs: the loss, and the sums that router_sums made of all
// layers. Attributes: weight; rows, of all layers together. transformers 5.23, load_balancing_loss_func and
// router_aux_loss_coef.
//
// Keeps the sums. The gradient of the first input is that of the result.

namespace {

OperatorDescription describe_router_loss(const ModelGraph& graph, const Operator& op) {
  const Tensor& sums = graph.tensor(op.inputs[1]);
  OperatorDescription description;
  description.passed_gradients = 0b01;
  description.saved_inputs = 0b10;
  description.forward.push_back(memory_work(sums.bytes()));
  if (sums.requires_grad) description.backward.push_back(memory_work(sums.bytes() * 2));
  return description;
}

}  // namespace

extern const OperatorType k_router_loss{.name = "router_loss", .describe = describe_router_loss};

// What the balancing loss needs to know of a layer's router: how many assignments each expert has, and the
// sum of its probabilities over the rows. Inputs: logits [.., experts], the experts chosen, int64 [.., k],
// and, behind another layer with experts, its sums, to which these are added. Output: [2, experts], float32:
// assignments, probabilities. Softmax in float32. transformers 5.23, load_balancing_loss_func, which adds up
// layer by layer too.
//
// Keeps the logits and one float32 log-sum-exp a row. Only probabilities have gradients; those of the sums go
// on to the layer before, as they are.

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
