#include "engine/strategies/gradient_order.h"

#include <algorithm>

namespace shardlab {

std::vector<OperatorId> completing_operators(const ModelGraph& graph) {
  std::vector<OperatorId> first_use(graph.parameters.size(), make_id<OperatorId>(graph.operators.size()));
  for (std::size_t i = graph.operators.size(); i-- > 0;) {
    for (const ParameterId parameter : graph.operators[i].parameters)
      first_use[parameter.index()] = make_id<OperatorId>(i);
  }
  return first_use;
}

namespace {

std::vector<ParameterId> parameters_that(const ModelGraph& graph, bool require_gradients) {
  std::vector<ParameterId> parameters;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    if (graph.parameters[i].requires_grad == require_gradients) parameters.push_back(make_id<ParameterId>(i));
  }
  return parameters;
}

}  // namespace

std::vector<ParameterId> parameters_with_gradients(const ModelGraph& graph) {
  return parameters_that(graph, true);
}

std::vector<ParameterId> parameters_without_gradients(const ModelGraph& graph) {
  return parameters_that(graph, false);
}

std::vector<ParameterId> arrival_order(const ModelGraph& graph) {
  return arrival_order(graph, completing_operators(graph));
}

std::vector<ParameterId> arrival_order(const ModelGraph& graph, std::span<const OperatorId> ready) {
  std::vector<ParameterId> order = parameters_with_gradients(graph);
  std::stable_sort(order.begin(), order.end(),
                   [&](ParameterId a, ParameterId b) { return ready[b.index()] < ready[a.index()]; });
  return order;
}

}  // namespace shardlab
