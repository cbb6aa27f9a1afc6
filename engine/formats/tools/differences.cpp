#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/formats/tools/export_target.h"
#include "engine/scenario/unsupported.h"

namespace shardlab {
namespace {

// Where a setting stands in docs/scenario.md; a section stands at its first key.
std::size_t position_of(std::string_view setting) {
  static const std::vector<MarkedKey> keys = all_keys();
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const MarkedKey& key) {
    return key.path == setting || key.path.starts_with(std::string(setting) + ".");
  });
  return static_cast<std::size_t>(found - keys.begin());
}

// Whether the target's file says the setting of this scenario, so that the program need not.
bool is_said(const ExportTarget& target, const ExportSubject& subject, std::string_view setting) {
  for (const ToolTable& table : target.keys) {
    if (!applies(table, subject)) continue;
    for (const ToolKey& key : table.keys) {
      if (key.setting == setting && !key.value(subject).is_null()) return true;
    }
  }
  return false;
}

}  // namespace

std::vector<ExportDifference> export_differences(const ExportTarget& target, const ExportSubject& given) {
  ExportSubject subject = given;
  subject.by_trainer = given.by_trainer || target.is_trainer;
  std::vector<ExportDifference> differences;
  for (const std::span<const SettingRule> rules : target.rules) {
    for (const SettingRule& rule : rules) {
      if (rule.instead == nullptr) continue;
      if (rule.kind == DifferenceKind::elsewhere && is_said(target, subject, rule.setting)) continue;
      if (std::optional<std::string> instead = rule.instead(subject)) {
        differences.push_back({std::string(rule.setting), rule.kind, shown_setting(subject, rule.setting),
                               *std::move(instead), std::string(rule.why)});
      }
    }
  }
  std::stable_sort(differences.begin(), differences.end(), [](const auto& a, const auto& b) {
    return position_of(a.setting) < position_of(b.setting);
  });
  return differences;
}

std::vector<std::string> overrides_of(std::span<const ExportDifference> differences) {
  std::vector<std::string> overrides;
  for (const ExportDifference& difference : differences) {
    if (difference.kind != DifferenceKind::elsewhere)
      overrides.push_back(fmt::format("{}={}", difference.setting, difference.instead));
  }
  return overrides;
}

}  // namespace shardlab
