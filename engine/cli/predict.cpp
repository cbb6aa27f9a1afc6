#include "engine/cli/predict.h"

#include "engine/scenario/resolve_device.h"
#include "simulator/simulate.h"

namespace shardlab {

Result<std::optional<Calibration>> find_calibration(const RunStore& store, const Scenario& scenario) {
  if (scenario.cluster.device != "cpu") return std::optional<Calibration>();
  MachineFingerprint wanted = this_machine(scenario.cluster.ranks, scenario.cluster.threads_per_rank, {});
  SHARDLAB_TRY(const std::vector<CalibrationRecord> records, store.calibrations());
  for (const CalibrationRecord& record : records) {  // newest first
    SHARDLAB_TRY(Calibration calibration, calibration_from_json(record.text, store.path().string()));
    wanted.torch_version = calibration.machine.torch_version;  // a prediction has no libtorch to differ from
    if (calibration_mismatch(calibration.machine, wanted).empty())
      return std::optional<Calibration>(std::move(calibration));
  }
  return std::optional<Calibration>();
}

Result<FinishedRun> predict(const PlannedScenario& planned, const std::optional<Calibration>& calibration,
                            RunStore* store) {
  SHARDLAB_TRY(const Device device, resolve_device(planned.scenario.cluster));
  SHARDLAB_TRY(RunTrace trace, simulate({planned, device, calibration ? &*calibration : nullptr}));
  return finish_run(planned, std::move(trace), store);
}

}  // namespace shardlab
