#include "engine/model/operators/probe_graph.h"

#include <utility>

namespace shardlab {

ProbeGraph::ProbeGraph(const OperatorType& type, DType dtype)
    : type_(type),
      dtype_(dtype),
      builder_("probe", {1, 1, dtype, dtype}),
      module_(builder_.add_module(std::nullopt, "", "Probe")) {}

// Nobody here makes it, but it wants a gradient.
TensorId ProbeGraph::activation(Shape shape) {
  wanted_.push_back(builder_.add_input("x", std::move(shape), dtype_, TensorRole::activation));
  return wanted_.back();
}

TensorId ProbeGraph::constant(Shape shape, DType dtype, Attributes attributes) {
  return builder_.add_input("table", std::move(shape), dtype, TensorRole::constant, std::move(attributes));
}

TensorId ProbeGraph::ids(Shape shape, TensorRole role) {
  return builder_.add_input("ids", std::move(shape), DType::int64, role);
}

ParameterId ProbeGraph::parameter(Shape shape, InitialValue initial) {
  return builder_.add_parameter(module_, "weight", std::move(shape), initial, 1);
}

ModelGraph ProbeGraph::finish(std::vector<TensorId> inputs, std::vector<ParameterId> parameters, Shape output,
                              Attributes attributes, std::int64_t vocabulary) {
  const bool is_loss = output.empty();
  const TensorId result = builder_.add_operator(type_, module_, std::move(inputs), std::move(parameters), "y",
                                                std::move(output), std::move(attributes));
  ModelGraph graph = builder_.finish(result, "Probe", 1, vocabulary);
  if (!is_loss) {
    graph.tensors[result.index()].dtype = dtype_;
    graph.loss = TensorId{0};  // an input: nothing here is the loss
  }
  for (const TensorId id : wanted_) graph.tensors[id.index()].requires_grad = true;
  return graph;
}

}  // namespace shardlab
