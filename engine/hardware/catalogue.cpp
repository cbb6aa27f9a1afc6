#include "engine/hardware/catalogue.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"
#include "engine/hardware/listed_names.h"

namespace shardlab {

namespace {

namespace fs = std::filesystem;

Result<YamlNode> read_aliases(std::string_view folder) {
  SHARDLAB_TRY(const fs::path file, find_asset("hardware/aliases.yaml"));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> all, read_shipped_yaml(file));
  const YamlNode* const aliases = all->find(folder);
  return aliases != nullptr ? *aliases : YamlNode();
}

}  // namespace

std::vector<std::string> described_names(std::string_view folder) {
  const auto path = find_asset(fmt::format("hardware/{}", folder));
  return path ? listed_names(*path).value_or(std::vector<std::string>()) : std::vector<std::string>();
}

Result<fs::path> find_description(std::string_view folder, std::string_view name, std::string_view noun) {
  SHARDLAB_TRY(const fs::path path, find_asset(fmt::format("hardware/{}", folder)));
  SHARDLAB_TRY(std::vector<std::string> known, listed_names(path));
  const std::string wanted = in_lower_case(name);
  const auto is_wanted = [&](const std::string& candidate) { return in_lower_case(candidate) == wanted; };
  if (const auto found = std::find_if(known.begin(), known.end(), is_wanted); found != known.end())
    return path / (*found + ".yaml");

  SHARDLAB_TRY(const YamlNode aliases, read_aliases(folder));
  for (const YamlEntry& alias : aliases.entries) {
    if (is_wanted(alias.key)) return path / (alias.value.text + ".yaml");
    known.push_back(alias.key);
  }
  // Nearest regardless of case, among names and aliases; without a near one the names alone.
  std::vector<std::string> lowered;
  for (const std::string& candidate : known) lowered.push_back(in_lower_case(candidate));
  std::string hint = suggestion(name, described_names(folder));
  if (const auto nearest = nearest_name(wanted, lowered)) {
    const auto index = std::find(lowered.begin(), lowered.end(), *nearest) - lowered.begin();
    hint = fmt::format("did you mean '{}'?", known[static_cast<std::size_t>(index)]);
  }
  return bad_input({}, fmt::format("unknown {} '{}'", noun, name), hint);
}

namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ' || c == '-') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

}  // namespace

bool is_device_called(std::string_view name, std::string_view reported) {
  const std::string wanted(name.substr(0, name.find('-')));
  const std::vector<std::string> words = words_of(reported);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == wanted || (i + 1 < words.size() && words[i] + words[i + 1] == wanted)) return true;
  }
  return false;
}

}  // namespace shardlab
