#include "simulator/calibrate/choose_calibration.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/folder.h"
#include "engine/base/input_file.h"
#include "engine/base/paths.h"
#include "engine/scenario/cluster_spec.h"
#include "engine/scenario/resolve_device.h"

namespace shardlab {

namespace {

// The newest of as many ranks on as many nodes; else the newest of the same GPU, without what belongs to
// ranks.
Result<std::optional<Calibration>> choose_for_gpus(std::span<const std::string> texts, std::string_view name,
                                                   const Scenario& scenario) {
  SHARDLAB_TRY(const Device device, resolve_device(*scenario.cluster));
  MachineFingerprint wanted;
  wanted.gpu = device.name;
  std::optional<Calibration> of_the_gpu;
  for (const std::string& text : texts) {
    if (text.find('"' + device.name + '"') == std::string::npos) continue;  // to read all of them takes long
    SHARDLAB_TRY(Calibration calibration, calibration_from_json(text, name));
    if (!calibration_mismatch(calibration.machine, wanted).empty()) continue;
    if (calibration.machine.ranks == device.ranks && calibration.machine.nodes == device.nodes)
      return std::optional<Calibration>(std::move(calibration));
    if (!of_the_gpu) of_the_gpu = without_collectives(std::move(calibration));
  }
  return of_the_gpu;
}

}  // namespace

Result<std::optional<Calibration>> choose_calibration(std::span<const std::string> texts,
                                                      std::string_view name, const Scenario& scenario) {
  if (scenario.cluster->device != DeviceKind::cpu) return choose_for_gpus(texts, name, scenario);
  MachineFingerprint wanted = this_machine(scenario.cluster->ranks, scenario.cluster->threads_per_rank, {});
  for (const std::string& text : texts) {
    SHARDLAB_TRY(Calibration calibration, calibration_from_json(text, name));
    wanted.torch_version = calibration.machine.torch_version;  // a prediction has no libtorch to differ from
    if (calibration_mismatch(calibration.machine, wanted).empty())
      return std::optional<Calibration>(std::move(calibration));
  }
  return std::optional<Calibration>();
}

Result<std::vector<std::string>> shipped_calibrations() {
  const auto folder = find_asset("calibration");
  if (!folder) return std::vector<std::string>();
  SHARDLAB_TRY(const std::vector<std::filesystem::path> files, paths_in(*folder));
  std::vector<std::string> texts;
  for (const std::filesystem::path& file : files) {
    if (file.extension() != ".json") continue;
    SHARDLAB_TRY(std::string text, read_input_file(file, k_table_file));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace shardlab
