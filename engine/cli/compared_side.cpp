#include "engine/cli/compared_side.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "engine/base/yaml.h"
#include "engine/cli/predict.h"
#include "engine/cli/repeatable_scenario.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/setting_view.h"

namespace shardlab {
namespace {

bool is_file(const std::string& reference) {
  return reference.find('/') != std::string::npos || reference.ends_with(".yaml") ||
         reference.ends_with(".yml");
}

// Calibrations are looked for where there is a database; a mere question makes none.
Result<std::optional<Calibration>> known_calibration(const CommonOptions& options, const Scenario& scenario) {
  std::filesystem::path path = options.database;
  if (path.empty()) {
    SHARDLAB_TRY(path, default_database_path());
  }
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return std::optional<Calibration>();
  SHARDLAB_TRY(const RunStore store, open_runs(options));
  return find_calibration(store, scenario);
}

Result<ComparedSide> predicted_side(const std::string& file, const CommonOptions& options,
                                    const std::vector<std::string>& overrides) {
  SHARDLAB_TRY(const Scenario scenario, read_scenario(file, overrides));
  SHARDLAB_TRY(PlannedScenario planned, plan_scenario(scenario));
  SHARDLAB_TRY(const std::optional<Calibration> calibration, known_calibration(options, planned.scenario));
  SHARDLAB_TRY(FinishedRun run, predict(planned, calibration, nullptr));
  ComparedSide side;
  side.run.name = planned.scenario.name;
  side.run.scenario_yaml = repeatable_scenario(planned.scenario);
  side.run.plan = std::move(planned.plan);
  side.run.trace = std::move(run.trace);
  side.run.summary = std::move(run.summary);
  return side;
}

}  // namespace

Result<ComparedSide> compared_side(const std::string& reference, const CommonOptions& options,
                                   const std::vector<std::string>& overrides) {
  if (is_file(reference)) return predicted_side(reference, options, overrides);
  if (!overrides.empty()) {
    return bad_input("--set", "changes the second scenario, and '" + reference + "' is a stored run",
                     "name the file of a scenario");
  }
  SHARDLAB_TRY(const RunStore store, open_runs(options));
  SHARDLAB_TRY(const RunId id, store.find(reference));
  SHARDLAB_TRY(RunRecord run, store.load(id));
  return ComparedSide{id, std::move(run)};
}

std::string short_name(const ComparedSide& side) {
  return side.id ? to_string(*side.id) : side.run.name;
}

// Settings of two scenarios.

namespace {

// The dotted keys of everything that is no section.
void add_keys(const YamlNode& node, const std::string& path, std::vector<std::string>& keys) {
  for (const YamlEntry& entry : node.entries) {
    const std::string key = path.empty() ? entry.key : path + "." + entry.key;
    if (entry.value.is_map()) {
      add_keys(entry.value, key, keys);
    } else if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      keys.push_back(key);
    }
  }
}

bool is_a_name(const std::string& key) {
  constexpr std::array<std::string_view, 3> k_names = {"name", "description", "tags"};
  return std::find(k_names.begin(), k_names.end(), key) != k_names.end();
}

}  // namespace

std::vector<SettingDifference> setting_differences(const RunRecord& first, const RunRecord& second) {
  const auto a = parse_scenario_with_source(first.scenario_yaml, first.name);
  const auto b = parse_scenario_with_source(second.scenario_yaml, second.name);
  if (!a || !b) return {};
  std::vector<std::string> keys;
  for (const RunRecord* run : {&first, &second}) {
    if (const auto tree = parse_yaml(run->scenario_yaml, run->name)) add_keys(*tree, {}, keys);
  }
  std::vector<SettingDifference> differences;
  for (const std::string& key : keys) {
    if (is_a_name(key)) continue;
    std::string one = view_setting(a->scenario, a->source, key).value;
    std::string other = view_setting(b->scenario, b->source, key).value;
    if (one != other) differences.push_back({key, std::move(one), std::move(other)});
  }
  return differences;
}

}  // namespace shardlab
