#include "engine/execute/probe.h"

#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/base/input_file.h"
#include "engine/base/json_number.h"

namespace shardlab {
namespace {

using Json = nlohmann::json;

Result<std::string> read_text(const std::filesystem::path& file) {
  auto text = read_input_file(file, k_probe_results_file);
  if (!text) return run_failed(in_file(file.string()), text.error().what);
  return text;
}

}  // namespace

std::filesystem::path probe_results_path(const std::filesystem::path& folder, int rank) {
  return folder / fmt::format("probes-{}.jsonl", rank);
}

std::string probe_line(const ProbeMeasurement& measurement) {
  return Json{{"probe", measurement.probe}, {"shape", measurement.shape}, {"samples", measurement.samples}}
      .dump();
}

Result<std::vector<ProbeMeasurement>> read_probe_results(const std::filesystem::path& file) {
  SHARDLAB_TRY(const std::string text, read_text(file));
  std::vector<ProbeMeasurement> results;
  std::istringstream lines(text);
  try {
    for (std::string line; std::getline(lines, line);) {
      const Json json = Json::parse(line);
      results.push_back({json.at("probe"), json_named_numbers<std::int64_t>(json.at("shape")),
                         json_numbers<std::int64_t>(json.at("samples"))});
    }
  } catch (const Json::exception& error) {
    return bad_input(in_file(file.string()),
                     fmt::format("line {} is not a measurement: {}", results.size() + 1, error.what()));
  }
  return results;
}

}  // namespace shardlab
