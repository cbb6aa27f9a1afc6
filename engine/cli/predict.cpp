#include "engine/cli/predict.h"

#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/alternatives/alternatives.h"
#include "simulator/calibrate/choose_calibration.h"
#include "simulator/simulate.h"

namespace shardlab {

Result<std::optional<Calibration>> find_calibration(const RunStore& store, const Scenario& scenario) {
  SHARDLAB_TRY(const std::vector<CalibrationRecord> records, store.calibrations());
  std::vector<std::string> texts;  // newest first
  for (const CalibrationRecord& record : records) texts.push_back(record.text);
  SHARDLAB_TRY(const std::vector<std::string> shipped, shipped_calibrations());
  texts.insert(texts.end(), shipped.begin(), shipped.end());
  return choose_calibration(texts, store.path().string(), scenario);
}

Result<FinishedRun> predict(const PlannedScenario& planned, const std::optional<Calibration>& calibration,
                            RunStore* store, WithAlternatives with_alternatives) {
  SHARDLAB_TRY(const Device device, resolve_device(*planned.scenario.cluster));
  SHARDLAB_TRY(RunTrace trace, simulate({planned, device, calibration ? &*calibration : nullptr}));
  SHARDLAB_TRY(RunSummary summary, summarize_run(planned, trace));
  if (with_alternatives == WithAlternatives::yes)
    summary.alternatives = predict_alternatives(planned, summary, calibration ? &*calibration : nullptr);
  return save_run(planned, std::move(trace), std::move(summary), store);
}

}  // namespace shardlab
