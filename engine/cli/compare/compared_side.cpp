#include "engine/cli/compare/compared_side.h"

#include <filesystem>

#include "engine/cli/predict.h"
#include "engine/planner/plan_scenario.h"
#include "engine/scenario/cluster_words.h"
#include "engine/scenario/paths/repeatable_scenario.h"
#include "engine/scenario/read_scenario.h"

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

Result<ComparedSide> predicted_side(const Scenario& scenario, const CommonOptions& options) {
  SHARDLAB_TRY(PlannedScenario planned, plan_scenario(scenario));
  SHARDLAB_TRY(const std::optional<Calibration> calibration, known_calibration(options, planned.scenario));
  SHARDLAB_TRY(FinishedRun run, predict(planned, calibration, nullptr));
  ComparedSide side;
  side.run.name = planned.scenario.name;
  SHARDLAB_TRY(side.run.machine, cluster_words(*planned.scenario.cluster));
  side.run.scenario_yaml = repeatable_scenario(planned.scenario);
  side.run.plan = std::move(planned.plan);
  side.run.trace = std::move(run.trace);
  side.run.summary = std::move(run.summary);
  return side;
}

}  // namespace

Result<ComparedSide> compared_side(const std::string& reference, const CommonOptions& options,
                                   const std::vector<std::string>& overrides) {
  if (is_file(reference)) {
    SHARDLAB_TRY(const Scenario scenario, read_scenario(reference, overrides));
    return predicted_side(scenario, options);
  }
  if (!overrides.empty()) {
    return bad_input("--set", "changes the second scenario, and '" + reference + "' is a stored run",
                     "name the file of a scenario");
  }
  SHARDLAB_TRY(const RunStore store, open_runs(options));
  SHARDLAB_TRY(const RunId id, store.find(reference));
  SHARDLAB_TRY(RunRecord run, store.load(id));
  return ComparedSide{id, std::move(run)};
}

Result<ComparedSide> prediction_beside(const RunRecord& run, const CommonOptions& options) {
  SHARDLAB_TRY(const ReadScenario read, parse_scenario_with_source(run.scenario_yaml, run.name));
  return predicted_side(read.scenario, options);
}

std::string short_name(const ComparedSide& side) {
  return side.id ? to_string(*side.id) : side.run.name;
}

}  // namespace shardlab
