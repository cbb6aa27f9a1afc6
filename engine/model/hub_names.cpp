#include "engine/model/hub_names.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"

namespace shardlab {
namespace {

struct HubName {
  std::string name;
  std::string shipped;
  bool is_own = false;  // the model's, and not one of the same shape
};

Result<std::vector<HubName>> hub_names() {
  std::vector<HubName> names;
  const auto file = find_asset("models/hub.yaml");
  if (!file && is_of_the_machine(file.error())) return fail(file.error());
  if (!file) return names;
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> all, read_shipped_yaml(*file));
  for (const YamlEntry& model : all->entries) {
    for (const YamlNode& name : model.value.items)
      names.push_back({name.text, model.key, &name == &model.value.items.front()});
  }
  return names;
}

std::size_t common_beginning(std::string_view a, std::string_view b) {
  const auto [end, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end - a.begin());
}

// The name of the same owner, of a model and not of what is shaped like it, that begins most alike; of
// several the last, which is the newest.
const HubName* begins_alike(std::string_view wanted, const std::vector<HubName>& names) {
  const HubName* best = nullptr;
  std::size_t longest = wanted.find('/') + 2;
  for (const HubName& each : names) {
    const std::size_t alike = common_beginning(wanted, in_lower_case(each.name));
    if (alike < longest || !each.is_own) continue;
    best = &each;
    longest = alike;
  }
  return best;
}

// Ours of that name, else the nearest by spelling. Sizes and generations that do not ship may differ in more
// letters than a misspelt name does; then the beginning decides. Null where nothing is like it.
const HubName* nearest_hub_name(std::string_view name, const std::vector<HubName>& names) {
  const std::string wanted = in_lower_case(name), own = wanted.substr(wanted.find('/') + 1);
  std::vector<std::string> lowered;
  for (const HubName& each : names) {
    if (each.shipped == own) return &each;
    lowered.push_back(in_lower_case(each.name));
  }
  const auto near = nearest_name(wanted, lowered);
  if (!near) return begins_alike(wanted, names);
  return &names[static_cast<std::size_t>(std::find(lowered.begin(), lowered.end(), *near) - lowered.begin())];
}

std::string with_dashes(std::string_view name) {
  std::string plain = in_lower_case(name);
  std::replace(plain.begin(), plain.end(), ' ', '-');
  std::replace(plain.begin(), plain.end(), '_', '-');
  return plain;
}

// What is called so, or so and "-Instruct", by a name that leaves out the owner; ours before the Hub's. Null
// where nothing is.
const HubName* called_without_owner(std::string_view name, const std::vector<HubName>& names) {
  const std::string wanted = with_dashes(name), instruct = wanted + "-instruct";
  for (const HubName& each : names)
    if (each.shipped == wanted) return &each;
  for (const HubName& each : names) {
    const std::string own = with_dashes(each.name.substr(each.name.find('/') + 1));
    if (own == wanted || own == instruct) return &each;
  }
  return nullptr;
}

}  // namespace

bool may_be_hub_name(std::string_view text) {
  const auto is_of_names = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/';
  };
  return std::count(text.begin(), text.end(), '/') == 1 &&
         std::all_of(text.begin(), text.end(), is_of_names) && !text.starts_with('.') &&
         !text.starts_with('/') && !text.ends_with('/') && !text.ends_with(".json");
}

Result<std::optional<std::string>> shipped_model(std::string_view hub_name) {
  SHARDLAB_TRY(const std::vector<HubName> names, hub_names());
  const std::string wanted = in_lower_case(hub_name);
  for (const HubName& each : names) {
    if (in_lower_case(each.name) == wanted) return std::optional(each.shipped);
  }
  return std::optional<std::string>();
}

Result<std::optional<std::string>> hub_name_of(std::string_view model) {
  SHARDLAB_TRY(const std::vector<HubName> names, hub_names());
  const std::string wanted = in_lower_case(model);
  for (const HubName& each : names) {
    if (each.shipped == model || in_lower_case(each.name) == wanted) return std::optional(each.name);
  }
  return std::optional<std::string>();
}

Result<std::optional<std::string>> model_called(std::string_view name) {
  SHARDLAB_TRY(const std::vector<HubName> names, hub_names());
  const HubName* const called = called_without_owner(name, names);
  return called != nullptr ? std::optional(called->shipped) : std::optional<std::string>();
}

std::string hint_for_hub_name(std::string_view name) {
  const std::vector<HubName> names = hub_names().value_or(std::vector<HubName>());
  const HubName* const nearest = nearest_hub_name(name, names);
  const std::string known =
      nearest != nullptr ? fmt::format("the nearest that ships is {} ({})", nearest->name, nearest->shipped)
                         : std::string("`shardlab models` lists what ships");
  return fmt::format(
      "{}; for this one give the folder of its config.json (hf download {} config.json --local-dir DIR, then "
      "model.config: DIR)",
      known, name);
}

}  // namespace shardlab
