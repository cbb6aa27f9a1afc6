#include "engine/model/loss_operators.h"

namespace shardlab {

bool makes_loss(const ModelGraph& graph, const Operator& op) {
  const Tensor& made = graph.tensor(op.outputs.front());
  const bool part = made.role == TensorRole::statistic && made.shape.empty();
  return part || (op.outputs.front() == graph.loss && op.parameters.empty());
}

OperatorId first_loss_operator(const ModelGraph& graph) {
  std::size_t first = graph.operators.size();
  while (first > 0 && makes_loss(graph, graph.operators[first - 1])) --first;
  return make_id<OperatorId>(first);
}

}  // namespace shardlab
