#include "engine/report/changed_settings.h"

#include <map>
#include <string_view>

#include <fmt/format.h>

namespace shardlab {
namespace {

std::string_view last_part(std::string_view key) {
  return key.substr(key.rfind('.') + 1);  // of a key without a dot all
}

}  // namespace

std::vector<ChangedSettings> changed_settings(std::span<const ScenarioText> newest_first) {
  std::vector<ChangedSettings> changed(newest_first.size());
  std::map<std::string_view, std::string_view> older;  // name -> scenario
  for (std::size_t i = newest_first.size(); i-- > 0;) {
    const ScenarioText& run = newest_first[i];
    const auto before = older.find(run.name);
    // Equal texts differ in nothing, and need not be parsed.
    if (before != older.end() && before->second != run.yaml)
      changed[i] = setting_differences({before->second, run.name}, run).value_or(ChangedSettings());
    older.insert_or_assign(run.name, run.yaml);
  }
  return changed;
}

std::string changed_text(const ChangedSettings& changed, bool whole_keys) {
  std::string text;
  for (const SettingDifference& each : changed) {
    const std::string_view key = whole_keys ? std::string_view(each.key) : last_part(each.key);
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, each.second.empty() ? "none" : each.second);
  }
  return text;
}

}  // namespace shardlab
