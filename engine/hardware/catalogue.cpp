#include "engine/hardware/catalogue.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "engine/base/lower_case.h"
#include "engine/base/nearest.h"
#include "engine/base/paths.h"
#include "engine/base/shipped_yaml.h"
#include "engine/base/yaml.h"
#include "engine/hardware/listed_names.h"
#include "engine/hardware/plain_hardware_name.h"

namespace shardlab {

namespace {

namespace fs = std::filesystem;

Result<YamlNode> read_aliases(std::string_view folder) {
  SHARDLAB_TRY(const fs::path file, find_asset("hardware/aliases.yaml"));
  SHARDLAB_TRY(const std::shared_ptr<const YamlNode> all, read_shipped_yaml(file));
  const YamlNode* const aliases = all->find(folder);
  return aliases != nullptr ? *aliases : YamlNode();
}

struct CalledSo {
  std::string name;  // or an alias
  std::string file;  // without ".yaml"
};

// Names before aliases.
Result<std::vector<CalledSo>> all_called(std::string_view folder, const std::vector<std::string>& names) {
  std::vector<CalledSo> all;
  for (const std::string& name : names) all.push_back({name, name});
  SHARDLAB_TRY(const YamlNode aliases, read_aliases(folder));
  for (const YamlEntry& alias : aliases.entries) all.push_back({alias.key, alias.value.text});
  return all;
}

// As it is written, in any case, else as a driver or a cloud spells it. Null where there is none.
const CalledSo* called(const std::vector<CalledSo>& all, std::string_view name) {
  const std::string wanted = in_lower_case(name), plain = plain_hardware_name(name);
  for (const CalledSo& each : all)
    if (in_lower_case(each.name) == wanted) return &each;
  for (const CalledSo& each : all)
    if (!plain.empty() && plain_hardware_name(each.name) == plain) return &each;
  return nullptr;
}

std::string digits_of(std::string_view name) {
  std::string digits;
  std::copy_if(name.begin(), name.end(), std::back_inserter(digits),
               [](char c) { return c >= '0' && c <= '9'; });
  return digits;
}

// A misspelt name has its own first letter and its own numbers, perhaps not all of them yet: an H800 is no
// H200, a g5 no p5. Of nothing that is meant so, all names.
std::string hint_for(std::string_view folder, const std::vector<CalledSo>& all, std::string_view name) {
  const std::string wanted = in_lower_case(name), digits = digits_of(name);
  std::vector<std::string> near, lowered;
  for (const CalledSo& each : all) {
    const std::string candidate = in_lower_case(each.name);
    if (!digits_of(candidate).starts_with(digits) || candidate.substr(0, 1) != wanted.substr(0, 1)) continue;
    near.push_back(each.name);
    lowered.push_back(candidate);
  }
  const auto nearest = nearest_name(wanted, lowered);
  if (!nearest) return "known: " + fmt::format("{}", fmt::join(described_names(folder), ", "));
  const auto index = std::find(lowered.begin(), lowered.end(), *nearest) - lowered.begin();
  return fmt::format("did you mean '{}'?", near[static_cast<std::size_t>(index)]);
}

}  // namespace

std::vector<std::string> described_names(std::string_view folder) {
  const auto path = find_asset(fmt::format("hardware/{}", folder));
  return path ? listed_names(*path).value_or(std::vector<std::string>()) : std::vector<std::string>();
}

Result<fs::path> find_description(std::string_view folder, std::string_view name, std::string_view noun) {
  SHARDLAB_TRY(const fs::path path, find_asset(fmt::format("hardware/{}", folder)));
  SHARDLAB_TRY(const std::vector<std::string> names, listed_names(path));
  const std::string wanted = in_lower_case(name);
  for (const std::string& each : names)
    if (in_lower_case(each) == wanted) return path / (each + ".yaml");
  SHARDLAB_TRY(const std::vector<CalledSo> all, all_called(folder, names));
  if (const CalledSo* const found = called(all, name)) return path / (found->file + ".yaml");
  return bad_input({}, fmt::format("unknown {} '{}'", noun, name), hint_for(folder, all, name));
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
