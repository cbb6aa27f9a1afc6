#include "simulator/alternatives/predict_with.h"

#include <filesystem>
#include <utility>

#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

Result<Scenario> with_settings(const Scenario& scenario, std::span<const std::string> settings) {
  const std::filesystem::path beside = std::filesystem::path(scenario.directory) / "with-keys-changed.yaml";
  return parse_scenario(write_scenario(scenario), beside.string(), settings);
}

}  // namespace

Result<PredictedWith> predict_with(const PlannedScenario& planned, std::span<const std::string> settings,
                                   const Calibration* calibration) {
  SHARDLAB_TRY(const Scenario scenario, with_settings(planned.scenario, settings));
  SHARDLAB_TRY(PlannedScenario changed, plan_scenario(scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*changed.scenario.cluster));
  SHARDLAB_TRY(const RunTrace trace, simulate({changed, device, calibration}, HashedPlans::left_out));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(changed));
  SHARDLAB_TRY(RunSummary run, summarize(changed, trace, limits, HashedPlans::left_out));
  return PredictedWith{std::move(changed), std::move(run)};
}

Result<PredictedWith> predict_with(const PlannedScenario& planned, const std::string& setting,
                                   const Calibration* calibration) {
  return predict_with(planned, {&setting, 1}, calibration);
}

}  // namespace shardlab
