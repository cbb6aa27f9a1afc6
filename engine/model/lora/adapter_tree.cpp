#include "engine/model/lora/adapter_tree.h"

#include <cmath>
#include <string>
#include <utility>

namespace shardlab {

AdapterTree::AdapterTree(const ModelGraph& old, const std::vector<Adaptation>& marks, const LoraSpec& spec)
    : old_(old),
      marks_(marks),
      rank_(spec.rank),
      dropout_(spec.dropout > 0),
      graph_(old),
      modules_(old.modules.size()),
      parameters_(old.parameters.size()) {
  graph_.modules.clear();
  graph_.parameters.clear();
  graph_.tensors.clear();
  graph_.operators.clear();
  copy(ModuleId{0}, std::nullopt);
}

void AdapterTree::copy(ModuleId old, std::optional<ModuleId> parent) {
  if (marks_[old.index()] == Adaptation::adapter) return wrap_in_adapter(old, parent);
  if (marks_[old.index()] == Adaptation::saved) return wrap_in_copy(old, parent);
  const Module& module = old_.module(old);
  const ModuleId made = add(module.path, module.class_name, parent);
  graph_.modules[made.index()].of_positions = module.of_positions;
  modules_[old.index()].outer = modules_[old.index()].runs = made;
  add_parameters(module, made, false);
  for (const ModuleId child : module.children) copy(child, made);
}

// peft's LoraLayer with its containers, of which those of other kinds of layers are empty.
void AdapterTree::wrap_in_adapter(ModuleId old, std::optional<ModuleId> parent) {
  const Module& module = old_.module(old);
  const Parameter& weight = old_.parameter(module.parameters.front());
  const bool transposed = module.class_name == "Conv1D";
  const std::int64_t inputs = weight.shape[transposed ? 0 : 1], outputs = weight.shape[transposed ? 1 : 0];
  AdaptedModule& adapted = modules_[old.index()];
  adapted.outer = add(module.path, "Linear", parent);
  adapted.runs = add_below(adapted.outer, "base_layer", module.class_name);
  add_parameters(module, adapted.runs, false);
  adapted.dropout_module = add_below(add_below(adapted.outer, "lora_dropout", "ModuleDict"), "default",
                                     dropout_ ? "Dropout" : "Identity");
  adapted.down_module = add_below(add_below(adapted.outer, "lora_A", "ModuleDict"), "default", "Linear");
  adapted.down = add_weight(*adapted.down_module, {rank_, inputs}, weight.dtype, InitialValue::uniform,
                            1 / std::sqrt(static_cast<double>(inputs)));
  graph_.modules[adapted.outer.index()].looks_at = {*adapted.down};  // whose dtype its input is cast to
  adapted.up_module = add_below(add_below(adapted.outer, "lora_B", "ModuleDict"), "default", "Linear");
  adapted.up = add_weight(*adapted.up_module, {outputs, rank_}, weight.dtype, InitialValue::zeros, 0);
  add_below(adapted.outer, "lora_embedding_A", "ParameterDict");
  add_below(adapted.outer, "lora_embedding_B", "ParameterDict");
  add_below(adapted.outer, "lora_magnitude_vector", "ModuleDict");
}

void AdapterTree::wrap_in_copy(ModuleId old, std::optional<ModuleId> parent) {
  const Module& module = old_.module(old);
  AdaptedModule& adapted = modules_[old.index()];
  adapted.outer = add(module.path, "ModulesToSaveWrapper", parent);
  add_parameters(module, add_below(adapted.outer, "original_module", module.class_name), false);
  adapted.runs =
      add_below(add_below(adapted.outer, "modules_to_save", "ModuleDict"), "default", module.class_name);
  for (const ParameterId id : module.parameters) parameters_[id.index()].reset();
  add_parameters(module, adapted.runs, true);
}

ModuleId AdapterTree::add(std::string path, std::string_view class_name, std::optional<ModuleId> parent) {
  const auto id = make_id<ModuleId>(graph_.modules.size());
  if (parent) graph_.modules[parent->index()].children.push_back(id);
  graph_.modules.push_back({std::move(path), std::string(class_name), parent, {}, {}});
  return id;
}

ModuleId AdapterTree::add_below(ModuleId parent, std::string_view name, std::string_view class_name) {
  return add(graph_.module(parent).path + '.' + std::string(name), class_name, parent);
}

// A tied parameter is there already when its second owner comes.
void AdapterTree::add_parameters(const Module& old, ModuleId owner, bool trained) {
  for (const ParameterId id : old.parameters) {
    std::optional<ParameterId>& made = parameters_[id.index()];
    if (!made) {
      made = make_id<ParameterId>(graph_.parameters.size());
      Parameter parameter = old_.parameter(id);
      parameter.name = graph_.module(owner).path + parameter.name.substr(parameter.name.rfind('.'));
      if (parameter.name != old_.parameter(id).name) parameter.base_name = old_.parameter(id).name;
      parameter.module = owner;
      parameter.trainable = parameter.requires_grad = trained;
      graph_.parameters.push_back(std::move(parameter));
    }
    graph_.modules[owner.index()].parameters.push_back(*made);
  }
}

ParameterId AdapterTree::add_weight(ModuleId owner, Shape shape, DType dtype, InitialValue initial,
                                    double scale) {
  const auto id = make_id<ParameterId>(graph_.parameters.size());
  Parameter weight{graph_.module(owner).path + ".weight", std::move(shape), dtype, owner, initial, scale};
  weight.adapter = true;
  graph_.parameters.push_back(std::move(weight));
  graph_.modules[owner.index()].parameters.push_back(id);
  return id;
}

}  // namespace shardlab
