#include "engine/cli/run_calibration.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/cli/measure.h"
#include "engine/cli/progress_line.h"
#include "engine/cli/spool_folder.h"
#include "simulator/calibrate/calibrate.h"

namespace shardlab {
namespace {

std::string machine_text(const MachineFingerprint& machine) {
  if (!machine.gpu.empty()) return fmt::format("{} x {}", machine.ranks, machine.processor);
  return fmt::format("{}, {} cores, {} x {} threads", machine.processor, machine.cores, machine.ranks,
                     machine.threads_per_rank);
}

}  // namespace

Result<Calibration> run_calibration(const CalibrationRequest& request, RunStore& store, Console& console) {
  SHARDLAB_TRY(SpoolFolder folder, SpoolFolder::make({}, request.team));
  ProgressLine line(console);
  CalibrateOptions options;
  SHARDLAB_TRY(const DeviceKind kind, device_kind_of(request.cluster));
  SHARDLAB_TRY(options.rank_program, rank_program(kind == DeviceKind::gpu));
  options.cluster = request.cluster;
  options.folder = folder.path();
  options.scenario = request.scenario;
  options.team = request.team;
  options.progress = [&line, &console](const std::string& what) {
    line.show("calibrating   " + what);
    console.event("calibrating", {{"what", what}});
  };

  Result<Calibration> calibration = calibrate(options);
  line.clear();
  if (!calibration) {
    if (calibration.error().kind == ErrorKind::run_failed) folder.keep();  // the error names it
    return calibration;
  }
  CalibrationRecord record;
  record.key = calibration->id;
  record.machine = machine_text(calibration->machine);
  record.text = to_json(*calibration);
  SHARDLAB_CHECK_OK(store.save_calibration(record));
  console.event("calibrated", {{"calibration", calibration->id}});
  return calibration;
}

}  // namespace shardlab
