// The module tree with adapters in it. Private to this folder.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/model/lora/adapted_modules.h"

namespace shardlab {

// What became of an old module that runs operators.
struct AdaptedModule {
  ModuleId outer;  // at its old path
  ModuleId runs;   // holds its weights now: itself, base_layer or the trained copy
  // With an adapter: lora_dropout.default, lora_A.default, lora_B.default.
  std::optional<ModuleId> dropout_module, down_module, up_module;
  std::optional<ParameterId> down, up;  // and the weights [rank, inputs], [outputs, rank]
};

// Copies modules and parameters of a graph in definition order, with new ones between them. The new graph has
// the old one's other fields, no tensors and no operators.
class AdapterTree {
 public:
  AdapterTree(const ModelGraph& old, const std::vector<Adaptation>& marks, const LoraSpec& spec);

  ModelGraph take() { return std::move(graph_); }
  // By old ids; a parameter is the one that its module's operators use.
  const AdaptedModule& module(ModuleId old) const { return modules_[old.index()]; }
  ParameterId parameter(ParameterId old) const { return *parameters_[old.index()]; }

 private:
  void copy(ModuleId old, std::optional<ModuleId> parent);
  void wrap_in_adapter(ModuleId old, std::optional<ModuleId> parent);
  void wrap_in_copy(ModuleId old, std::optional<ModuleId> parent);
  ModuleId add(std::string path, std::string_view class_name, std::optional<ModuleId> parent);
  ModuleId add_below(ModuleId parent, std::string_view name, std::string_view class_name);
  void add_parameters(const Module& old, ModuleId owner, bool trained);
  ParameterId add_weight(ModuleId owner, Shape shape, DType dtype, InitialValue initial, double scale);

  const ModelGraph& old_;
  const std::vector<Adaptation>& marks_;
  const std::int64_t rank_;
  const bool dropout_;
  ModelGraph graph_;
  std::vector<AdaptedModule> modules_;                  // by old ModuleId
  std::vector<std::optional<ParameterId>> parameters_;  // by old ParameterId
};

}  // namespace shardlab
