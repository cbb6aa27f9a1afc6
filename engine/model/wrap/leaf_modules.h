// Leaf modules of ZeRO-3: gathered whole, with all that is below them, by one hook.
//
// Source: DeepSpeed 0.19.8, runtime/zero/leaf_module_config.py and utils/z3_leaf_module.py
// (apply_zero_leaf_module_config). Blocks of experts are leaves where nothing is said.
#pragma once

#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/model_graph.h"

namespace shardlab {

// A class by its name, or by its path in Python, of which the last part is compared.
struct LeafSpec {
  std::vector<std::string> classes = {
      "transformers.models.mixtral.modeling_mixtral.MixtralSparseMoeBlock",
      "transformers.models.qwen2_moe.modeling_qwen2_moe.Qwen2MoeSparseMoeBlock",
      "transformers.models.qwen3_moe.modeling_qwen3_moe.Qwen3MoeSparseMoeBlock"};
  std::vector<std::string> names;          // of modules, as named_modules() of what is trained gives them
  std::vector<std::string> name_suffixes;  // ends of such names
  friend bool operator==(const LeafSpec&, const LeafSpec&) = default;
};

// The outermost of the modules that it names and that have parameters, in definition order.
std::vector<ModuleId> leaf_modules(const ModelGraph& graph, const LeafSpec& spec);

// Refuses a class or name of the user's that no module has, of which DeepSpeed warns; `key` is where it
// stands.
Status check_leaf_modules(const ModelGraph& graph, const LeafSpec& spec, const std::string& key);

}  // namespace shardlab
