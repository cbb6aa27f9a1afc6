#include "engine/model/graph_builder.h"

#include <utility>

namespace shardlab {

GraphBuilder::GraphBuilder(std::string family, const GraphOptions& options) : options_(options) {
  graph_.family = std::move(family);
  graph_.micro_batch = options.micro_batch;
  graph_.sequence_length = options.sequence_length;
  graph_.compute_dtype = options.compute_dtype;
  graph_.expert_shares = options.expert_shares;
}

ModuleId GraphBuilder::add_module(std::optional<ModuleId> parent, std::string_view name,
                                  std::string_view class_name) {
  const auto id = make_id<ModuleId>(graph_.modules.size());
  std::string path(name);
  if (parent) {
    Module& owner = graph_.modules[parent->index()];
    if (!owner.path.empty()) path = owner.path + '.' + path;
    owner.children.push_back(id);
  }
  graph_.modules.push_back({std::move(path), std::string(class_name), parent, {}, {}});
  return id;
}

ModuleId GraphBuilder::add_positions(ModuleId parent, std::string_view name, std::string_view class_name) {
  const ModuleId id = add_module(parent, name, class_name);
  graph_.modules[id.index()].of_positions = true;
  return id;
}

ParameterId GraphBuilder::add_parameter(ModuleId module, std::string_view name, Shape shape,
                                        InitialValue initial, double scale) {
  const auto id = make_id<ParameterId>(graph_.parameters.size());
  Module& owner = graph_.modules[module.index()];
  Parameter parameter{
      owner.path + '.' + std::string(name), std::move(shape), options_.stored_dtype, module, initial, scale};
  graph_.parameters.push_back(std::move(parameter));
  owner.parameters.push_back(id);
  return id;
}

void GraphBuilder::tie_parameter(ModuleId module, ParameterId parameter) {
  graph_.modules[module.index()].parameters.push_back(parameter);
}

TensorId GraphBuilder::add_input(std::string_view label, Shape shape, DType dtype, TensorRole role,
                                 Attributes attributes) {
  const auto id = make_id<TensorId>(graph_.tensors.size());
  graph_.tensors.push_back({label, std::move(shape), dtype, role, false, std::move(attributes)});
  return id;
}

TensorId GraphBuilder::add_operator(const OperatorType& type, ModuleId module, std::vector<TensorId> inputs,
                                    std::vector<ParameterId> parameters, std::string_view label, Shape shape,
                                    Attributes attributes) {
  return add_operator(type, module, std::move(inputs), std::move(parameters),
                      {{label, std::move(shape), options_.compute_dtype}}, std::move(attributes))
      .front();
}

std::vector<TensorId> GraphBuilder::add_operator(const OperatorType& type, ModuleId module,
                                                 std::vector<TensorId> inputs,
                                                 std::vector<ParameterId> parameters,
                                                 const std::vector<Output>& outputs, Attributes attributes) {
  bool requires_grad = !parameters.empty();
  for (const TensorId input : inputs) requires_grad |= tensor(input).requires_grad;
  std::vector<TensorId> made;
  for (const Output& output : outputs) {
    made.push_back(make_id<TensorId>(graph_.tensors.size()));
    const bool wanted = requires_grad && is_floating_point(output.dtype);
    graph_.tensors.push_back({output.label, output.shape, output.dtype, output.role, wanted, {}});
  }
  graph_.operators.push_back(
      {&type, module, std::move(inputs), made, std::move(parameters), std::move(attributes)});
  return made;
}

ModelGraph GraphBuilder::finish(TensorId loss, std::string block_class, std::int64_t layers,
                                std::int64_t vocabulary) {
  graph_.tensors[loss.index()].dtype = DType::float32;
  graph_.loss = loss;
  graph_.block_class = std::move(block_class);
  graph_.layers = layers;
  graph_.vocabulary = vocabulary;
  return std::exchange(graph_, {});
}

}  // namespace shardlab
