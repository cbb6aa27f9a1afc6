#include "engine/cli/predict.h"

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/alternatives/alternatives.h"
#include "simulator/calibrate/choose_calibration.h"
#include "simulator/simulate.h"

namespace shardlab {

namespace {

Result<std::optional<Calibration>> choose_among(std::vector<std::string> texts, const std::string& name,
                                                const Scenario& scenario) {
  SHARDLAB_TRY(const std::vector<std::string> shipped, shipped_calibrations());
  texts.insert(texts.end(), shipped.begin(), shipped.end());
  return choose_calibration(texts, name, scenario);
}

}  // namespace

Result<std::optional<Calibration>> find_calibration(const RunStore& store, const Scenario& scenario) {
  SHARDLAB_TRY(const std::vector<CalibrationRecord> records, store.calibrations());
  std::vector<std::string> texts;  // newest first
  for (const CalibrationRecord& record : records) texts.push_back(record.text);
  return choose_among(std::move(texts), store.path().string(), scenario);
}

Result<std::optional<Calibration>> find_calibration_if_any(const CommonOptions& options,
                                                           const Scenario& scenario) {
  constexpr const char* k_shipped = "assets/calibration";
  if (options.database.empty() && !default_database_path()) return choose_among({}, k_shipped, scenario);
  const Result<RunStore> store = open_runs(options);
  if (store) return find_calibration(*store, scenario);
  if (store.error().code == ErrorCode::no_database) return choose_among({}, k_shipped, scenario);
  Error error = store.error();
  error.hint += "; --no-calibration predicts without it";
  return fail(std::move(error));
}

Result<FinishedRun> predict(const PlannedScenario& planned, const std::optional<Calibration>& calibration,
                            RunStore* store, WithAlternatives with_alternatives, const Spread* spread) {
  SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
  SHARDLAB_TRY(RunTrace trace, simulate({planned, device, calibration ? &*calibration : nullptr, spread}));
  SHARDLAB_TRY(RunSummary summary, summarize_run(planned, trace));
  if (with_alternatives == WithAlternatives::yes) {
    SHARDLAB_TRY(summary.alternatives,
                 predict_alternatives(planned, summary, calibration ? &*calibration : nullptr));
  }
  return save_run(planned, std::move(trace), std::move(summary), store);
}

}  // namespace shardlab
