#include "engine/model/lora/adapted_modules.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/nearest.h"
#include "engine/base/path_pattern.h"
#include "engine/model/families/family.h"
#include "engine/model/head.h"

namespace shardlab {
namespace {

// nn.Linear and its subclasses, and GPT-2's Conv1D: what peft's Linear layer wraps.
bool is_linear(const Module& module) {
  return module.class_name.ends_with("Linear") || module.class_name == "Conv1D";
}

bool has_last_names(std::string_view path, std::string_view names) {
  return path == names || (path.ends_with(names) && path[path.size() - names.size() - 1] == '.');
}

// peft: "all-linear" leaves out the output embeddings.
bool is_target(const Module& module, const std::string& target) {
  if (target == "all-linear") return is_linear(module) && !is_head(module);
  return has_last_names(module.path, target) || matches_path(target, module.path);
}

bool is_saved(const Module& module, const std::string& name) {
  return module.path.ends_with(name) || matches_path(name, module.path);
}

bool is_tied(const ModelGraph& graph, const Module& module) {
  return std::any_of(module.parameters.begin(), module.parameters.end(), [&](ParameterId id) {
    return std::count_if(graph.modules.begin(), graph.modules.end(), [&](const Module& other) {
             return std::find(other.parameters.begin(), other.parameters.end(), id) != other.parameters.end();
           }) > 1;
  });
}

tl::unexpected<Error> nothing_named(const ModelGraph& graph, const std::string& key,
                                    const std::string& name) {
  std::vector<std::string> known{"all-linear", std::string(k_peft_default)};
  for (const Module& module : graph.modules) {
    if (!is_linear(module)) continue;
    known.push_back(module.path);
    known.push_back(module.path.substr(module.path.rfind('.') + 1));
  }
  const auto near = nearest_name(name, known);
  return bad_input(key, "no module of this model matches '" + name + "'",
                   near ? "did you mean '" + *near + "'?" : "`shardlab model` lists the paths");
}

Status mark_saved(const ModelGraph& graph, const std::string& name, std::vector<Adaptation>& marks) {
  const std::string key = "model.lora.modules_to_save";
  bool found = false;
  for (std::size_t i = 1; i < graph.modules.size(); ++i) {
    const Module& module = graph.modules[i];
    if (!is_saved(module, name)) continue;
    if (!module.children.empty())
      return bad_input(key, "not supported yet: modules inside of '" + module.path + "'",
                       "name the layers in it one by one");
    if (module.parameters.empty()) return bad_input(key, "'" + module.path + "' has no parameters to train");
    if (is_tied(graph, module))
      return bad_input(
          key, "not supported yet: '" + module.path + "' has a tied parameter",
          "set model.overrides.tie_word_embeddings: false, or give it an adapter (model.lora.targets)");
    marks[i] = Adaptation::saved;
    found = true;
  }
  if (!found) return nothing_named(graph, key, name);
  return {};
}

Status mark_target(const ModelGraph& graph, const std::string& target, std::vector<Adaptation>& marks) {
  bool found = false;
  for (std::size_t i = 1; i < graph.modules.size(); ++i) {
    const Module& module = graph.modules[i];
    if (!is_target(module, target)) continue;
    found = true;
    if (marks[i] == Adaptation::saved) continue;  // peft: what is trained as a whole gets no adapter
    if (!is_linear(module)) {
      return bad_input(
          "model.lora.targets",
          fmt::format("not supported yet: an adapter on '{}', a {}", module.path, module.class_name),
          "supported: linear layers");
    }
    marks[i] = Adaptation::adapter;
  }
  if (!found) return nothing_named(graph, "model.lora.targets", target);
  return {};
}

// The targets, with peft's own for this type of model in the place of the word for them.
Result<std::vector<std::string>> named_targets(const ModelGraph& graph, const LoraSpec& spec) {
  std::vector<std::string> targets;
  for (const std::string& target : spec.targets) {
    if (target != k_peft_default) {
      targets.push_back(target);
      continue;
    }
    const Family* const family = find_family(graph.family);
    if (family == nullptr || family->adapted_unasked.empty())
      return bad_input("model.lora.targets",
                       fmt::format("peft chooses no layers of {} by itself", graph.family),
                       family == nullptr ? "name the layers"
                                         : fmt::format("name them: [{}], or [all-linear]", family->adapted));
    targets.insert(targets.end(), family->adapted_unasked.begin(), family->adapted_unasked.end());
  }
  return targets;
}

}  // namespace

Result<std::vector<Adaptation>> adapted_modules(const ModelGraph& graph, const LoraSpec& spec) {
  std::vector<Adaptation> marks(graph.modules.size(), Adaptation::none);
  for (const std::string& name : spec.modules_to_save) SHARDLAB_CHECK_OK(mark_saved(graph, name, marks));
  SHARDLAB_TRY(const std::vector<std::string> targets, named_targets(graph, spec));
  for (const std::string& target : targets) SHARDLAB_CHECK_OK(mark_target(graph, target, marks));
  if (std::find(marks.begin(), marks.end(), Adaptation::adapter) == marks.end())
    return bad_input("model.lora.targets", "no layer is left that could get an adapter");
  return marks;
}

}  // namespace shardlab
