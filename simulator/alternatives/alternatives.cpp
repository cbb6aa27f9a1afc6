#include "simulator/alternatives/alternatives.h"

#include <filesystem>
#include <string>
#include <utility>

#include "engine/planner/plan_scenario.h"
#include "engine/report/summarize.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/alternatives/settings_to_try.h"
#include "simulator/simulate.h"

namespace shardlab {
namespace {

Result<Scenario> with_setting(const Scenario& scenario, const std::string& setting) {
  const std::vector<std::string> overrides{setting};
  const std::filesystem::path beside =
      std::filesystem::path(scenario.directory) / "with-one-key-changed.yaml";
  return parse_scenario(write_scenario(scenario), beside.string(), overrides);
}

Result<Alternative> predict_with(const PlannedScenario& planned, const SettingToTry& tried,
                                 const Calibration* calibration) {
  SHARDLAB_TRY(const Scenario scenario, with_setting(planned.scenario, tried.setting));
  SHARDLAB_TRY(const PlannedScenario changed, plan_scenario(scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*changed.scenario.cluster));
  SHARDLAB_TRY(const RunTrace trace, simulate({changed, device, calibration}));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(changed));
  SHARDLAB_TRY(const RunSummary run, summarize(changed, trace, limits));
  return Alternative{tried.setting, tried.effect, run.memory ? run.memory->peak_allocated : Bytes{},
                     run.step_time.median, run.fits};
}

bool halves(const Alternative& alternative, const RunSummary& run) {
  return alternative.peak_allocated.value * 2 <= run.memory->peak_allocated.value;
}

}  // namespace

std::vector<Alternative> predict_alternatives(const PlannedScenario& planned, const RunSummary& run,
                                              const Calibration* calibration,
                                              const std::function<bool()>& is_wanted) {
  const auto goes_on = [&] { return !is_wanted || is_wanted(); };
  std::vector<Alternative> found;
  for (const SettingToTry& tried : other_implementation(planned)) {
    if (!goes_on()) return found;
    if (auto alternative = predict_with(planned, tried, calibration))
      found.push_back(*std::move(alternative));
  }
  for (const SettingToTry& tried : settings_that_could_halve(planned, run)) {
    if (!goes_on()) return found;
    auto alternative = predict_with(planned, tried, calibration);
    if (alternative && halves(*alternative, run)) found.push_back(*std::move(alternative));
  }
  return found;
}

}  // namespace shardlab
