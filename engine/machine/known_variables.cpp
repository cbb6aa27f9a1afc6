#include "engine/machine/known_variables.h"

#include <algorithm>
#include <array>

#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"

namespace shardlab {
namespace {

bool is_of_communication(std::string_view name) {
  constexpr auto k_beginnings =
      std::to_array<std::string_view>({"NCCL_", "TORCH_NCCL_", "TORCH_FR_", "GLOO_", "TORCH_GLOO_"});
  return std::any_of(k_beginnings.begin(), k_beginnings.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}

std::map<std::string, std::string, std::less<>> pairs_of(const YamlNode* map) {
  std::map<std::string, std::string, std::less<>> pairs;
  if (map == nullptr) return pairs;
  for (const YamlEntry& entry : map->entries) pairs.emplace(entry.key, entry.value.text);
  return pairs;
}

}  // namespace

Result<KnownVariables> known_variables() {
  SHARDLAB_TRY(const std::filesystem::path file, find_asset("environment/variables.yaml"));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> root, read_shipped_yaml(file));
  KnownVariables known;
  for (const char* library : {"nccl", "torch", "labels"}) {
    const YamlNode* names = root->find(library);
    if (names == nullptr) continue;
    for (const YamlNode& name : names->items) known.read.push_back(name.text);
  }
  known.renamed = pairs_of(root->find("renamed"));
  known.unread = pairs_of(root->find("unread"));
  return known;
}

std::optional<StrangeVariable> strange_variable(std::string_view name, const KnownVariables& known) {
  if (!is_of_communication(name)) return std::nullopt;
  if (const auto found = known.renamed.find(name); found != known.renamed.end())
    return StrangeVariable{found->first, "was renamed to " + found->second, found->second};
  if (const auto found = known.unread.find(name); found != known.unread.end())
    return StrangeVariable{found->first, found->second, ""};
  if (std::find(known.read.begin(), known.read.end(), name) != known.read.end()) return std::nullopt;
  const auto meant = misspelt_name(name, known.read);
  if (!meant) return std::nullopt;
  return StrangeVariable{std::string(name), "is not read; " + *meant + " is", *meant};
}

}  // namespace shardlab
