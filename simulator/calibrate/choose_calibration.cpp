#include "simulator/calibrate/choose_calibration.h"

namespace shardlab {

Result<std::optional<Calibration>> choose_calibration(std::span<const std::string> texts,
                                                      std::string_view name, const Scenario& scenario) {
  if (scenario.cluster.device != "cpu") return std::optional<Calibration>();
  MachineFingerprint wanted = this_machine(scenario.cluster.ranks, scenario.cluster.threads_per_rank, {});
  for (const std::string& text : texts) {
    SHARDLAB_TRY(Calibration calibration, calibration_from_json(text, name));
    wanted.torch_version = calibration.machine.torch_version;  // a prediction has no libtorch to differ from
    if (calibration_mismatch(calibration.machine, wanted).empty())
      return std::optional<Calibration>(std::move(calibration));
  }
  return std::optional<Calibration>();
}

}  // namespace shardlab
