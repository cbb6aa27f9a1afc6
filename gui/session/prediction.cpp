#include "gui/session/prediction.h"

#include <chrono>

#include "engine/planner/plan_scenario.h"
#include "engine/report/unit_warnings.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/read_scenario.h"
#include "engine/scenario/resolve_device.h"
#include "simulator/calibrate/choose_calibration.h"
#include "simulator/simulate.h"

namespace shardlab::gui {
namespace {

Result<Prediction> predict(const PredictionRequest& request) {
  // The strict reader first: it refuses what is not built yet. The second gives the place of every key.
  SHARDLAB_TRY(const Scenario scenario, parse_scenario(request.text, request.file_name));
  SHARDLAB_TRY(ReadScenario read, parse_scenario_with_source(request.text, request.file_name));
  Prediction made;
  made.revision = request.revision;
  made.source = std::move(read.source);
  SHARDLAB_TRY(made.planned, plan_scenario(scenario));
  SHARDLAB_TRY(std::vector<std::string> calibrations, shipped_calibrations());
  calibrations.insert(calibrations.begin(), request.calibrations.begin(), request.calibrations.end());
  SHARDLAB_TRY(made.calibration, choose_calibration(calibrations, request.calibrations_from, scenario));
  SHARDLAB_TRY(const Device device, resolve_device(*made.planned.scenario.cluster));
  view::LoadedRun run;
  SHARDLAB_TRY(run.record.trace,
               simulate({made.planned, device, made.calibration ? &*made.calibration : nullptr}));
  SHARDLAB_TRY(const DeviceLimits limits, device_limits(made.planned));
  SHARDLAB_TRY(run.record.summary, summarize(made.planned, run.record.trace, limits));
  run.record.name = made.planned.scenario.name;
  run.record.scenario_yaml = request.text;
  run.record.plan = made.planned.plan;
  made.run = std::make_shared<const view::LoadedRun>(std::move(run));
  made.live_after = live_bytes_after(made.planned.plan.steady);
  return made;
}

}  // namespace

PredictionOutcome predict_text(const PredictionRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  auto made = predict(request);
  if (!made) return {request.revision, nullptr, std::move(made).error()};
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  made->milliseconds = took.count();
  return {request.revision, std::make_shared<const Prediction>(*std::move(made)), std::nullopt};
}

}  // namespace shardlab::gui
