// y[row] = sum over its k experts of weight * result: the way back of dispatch. Inputs: results of the
// experts [assignments, width], weights [batch, sequence, k], places as dispatch made them.
//
// Keeps all three: the weights' gradients need the results. Backward computes both gradients together.
#include "engine/model/operators/work.h"

namespace shardlab {
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

}  // namespace shardlab
