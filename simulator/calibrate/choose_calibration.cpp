#include "simulator/calibrate/choose_calibration.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

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
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(*folder, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error) return run_failed(in_file(folder->string()), "cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file);
    std::stringstream text;
    text << stream.rdbuf();
    if (!stream) return run_failed(in_file(file.string()), "cannot be read");
    texts.push_back(text.str());
  }
  return texts;
}

}  // namespace shardlab
