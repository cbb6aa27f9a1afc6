#include "simulator/calibrate/shipped_calibrations.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/base/paths.h"

namespace shardlab {

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
