// Which modules ZeRO-3 gathers whole, as the scenario says it (`parallel.zero`, leaf_module).
//
// Source: DeepSpeed 0.19.8, runtime/zero/leaf_module_config.py: blocks of experts where nothing is said.
#pragma once

#include <string>
#include <vector>

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

}  // namespace shardlab
