#include "engine/model/loss_operators.h"

#include <algorithm>

#include "engine/model/operators/attribute_keys.h"
#include "engine/model/operators/operator_list.h"

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

namespace {

bool makes(const Operator& op, TensorId tensor) {
  return std::find(op.outputs.begin(), op.outputs.end(), tensor) != op.outputs.end();
}
bool reads(const Operator& op, TensorId tensor) {
  return std::find(op.inputs.begin(), op.inputs.end(), tensor) != op.inputs.end();
}

// A tensor that nothing makes or reads any more; later ones move up by one.
void remove_tensor(ModelGraph& graph, TensorId gone) {
  const auto moved = [gone](TensorId& id) { id.value -= id.value > gone.value ? 1 : 0; };
  for (Operator& op : graph.operators) {
    std::for_each(op.inputs.begin(), op.inputs.end(), moved);
    std::for_each(op.outputs.begin(), op.outputs.end(), moved);
  }
  moved(graph.loss);
  graph.tensors.erase(graph.tensors.begin() + gone.value);
}

}  // namespace

Status chunk_loss(ModelGraph& graph, LossChunks over, int chunks) {
  auto& operators = graph.operators;
  const auto loss = std::find_if(operators.begin(), operators.end(),
                                 [&](const Operator& op) { return makes(op, graph.loss); });
  if (loss == operators.end()) return internal_error("model.loss", "the graph has no loss");
  const TensorId logits = loss->inputs[0];
  const auto head =
      std::find_if(operators.begin(), loss, [&](const Operator& op) { return makes(op, logits); });
  const auto readers = std::count_if(operators.begin(), operators.end(),
                                     [&](const Operator& op) { return reads(op, logits); });
  if (head == loss || head->type != &k_linear || head->attributes.get_or(attribute::k_transposed, false) ||
      readers != 1) {
    return bad_input(
        "model.loss",
        "not supported yet for " + graph.family + ": chunked: its logits are changed before the loss",
        "use plain");
  }
  head->type = over == LossChunks::of_tokens ? &k_token_chunked_loss : &k_vocabulary_chunked_loss;
  head->inputs.push_back(loss->inputs[1]);
  head->outputs = {graph.loss};
  head->attributes = {{attribute::k_chunks, chunks}};
  operators.erase(loss);
  remove_tensor(graph, logits);
  return {};
}

}  // namespace shardlab
