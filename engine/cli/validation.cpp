#include "engine/cli/validation.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/measure.h"
#include "engine/cli/predict.h"
#include "engine/cli/run_calibration.h"
#include "engine/report/json.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/run_spec.h"
#include "simulator/calibrate/calibrate.h"

namespace shardlab {
namespace {

Result<std::optional<Calibration>> calibration_for(const PlannedScenario& planned, bool calibrate,
                                                   RunStore& store, Console& console) {
  SHARDLAB_TRY(std::optional<Calibration> known, find_calibration(store, planned.scenario));
  const ClusterSpec& cluster = *planned.scenario.cluster;
  if (known || !calibrate) return known;
  if (cluster.device == DeviceKind::cpu) {
    console.note(fmt::format("no calibration of this machine for {} x {} thread{} in {}: calibrating first",
                             cluster.ranks, cluster.threads_per_rank,
                             cluster.threads_per_rank == 1 ? "" : "s", store.path().string()));
  }
  SHARDLAB_TRY(Calibration made, run_calibration({one_node_of(cluster), &planned}, store, console));
  // Said afterwards: where there is no such GPU, that is all there is to say.
  if (cluster.device != DeviceKind::cpu)
    console.note(fmt::format("there was no calibration of {}: it was measured first", made.machine.gpu));
  return std::optional<Calibration>(std::move(made));
}

}  // namespace

Result<Validation> validate(const PlannedScenario& planned, bool calibrate, RunStore& store,
                            Console& console) {
  SHARDLAB_CHECK_OK(check_measurable(planned.scenario));
  SHARDLAB_TRY(const std::optional<Calibration> calibration,
               calibration_for(planned, calibrate, store, console));
  SHARDLAB_TRY(FinishedRun predicted, predict(planned, calibration, &store));
  announce(console, predicted);
  SHARDLAB_TRY(std::optional<FinishedRun> measured, measure(planned, {}, store, console));
  if (!measured)
    return not_possible("shardlab validate", "this is one rank of several",
                        "run it without a launcher's variables");
  SHARDLAB_TRY(Comparison comparison,
               compare(planned.plan.steady, {predicted.summary, predicted.trace},
                       {measured->summary, measured->trace}, planned.scenario.measure->tolerance));
  SHARDLAB_CHECK_OK(store.save_comparison(*predicted.id, *measured->id, comparison));
  return Validation{planned.scenario.name, std::move(predicted), *std::move(measured), std::move(comparison),
                    planned.plan.steady};
}

Json validation_json(const Validation& validation) {
  Json document = {{"scenario", validation.scenario}};
  document.update(comparison_json(validation.comparison,
                                  run_json(validation.predicted.summary, validation.predicted.id),
                                  run_json(validation.measured.summary, validation.measured.id)));
  return document;
}

}  // namespace shardlab
