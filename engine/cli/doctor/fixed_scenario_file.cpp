#include "engine/cli/doctor/fixed_scenario_file.h"

#include <filesystem>

#include "engine/base/input_file.h"
#include "engine/base/output_file.h"
#include "engine/scenario/apply_settings.h"
#include "engine/scenario/paths/repeatable_scenario.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// The scenario's own file with the settings in it; nothing where there is none, or it reads as something
// else.
std::optional<std::string> edited_text(const FixedJob& fixed, const std::string& scenario) {
  if (scenario.empty()) return std::nullopt;
  const auto text = read_input_file(scenario, k_scenario_file);
  if (!text) return std::nullopt;
  const auto edited = apply_settings(*text, scenario, fixed.set);
  if (!edited) return std::nullopt;
  const auto read = parse_scenario(*edited, scenario);
  const bool is_same = read && write_scenario(*read) == write_scenario(fixed.job.read.scenario);
  return is_same ? std::optional(*edited) : std::nullopt;
}

}  // namespace

Status write_fixed(const FixedJob& fixed, const std::string& scenario_file, const std::string& file,
                   bool replace) {
  std::error_code error;
  if (!replace && fs::exists(file, error))
    return bad_input(in_file(file), "exists already", "--force replaces it");
  const Scenario& scenario = fixed.job.planned.scenario;
  const fs::path folder = fs::absolute(fs::path(file), error).parent_path();
  const bool beside = fs::equivalent(folder, scenario.directory.empty() ? "." : scenario.directory, error);
  if (!beside) return write_output_file(file, repeatable_scenario(scenario));
  return write_output_file(file, edited_text(fixed, scenario_file).value_or(write_scenario(scenario)));
}

std::optional<FixedFile> fixed_file(const std::string& file, const Finding& finding) {
  if (finding.fix.kind != FixKind::settings || finding.fix.set.empty()) return std::nullopt;
  const auto text = read_input_file(file, k_scenario_file);
  if (!text) return std::nullopt;
  const auto after = apply_settings(*text, file, finding.fix.set);
  return after && *after != *text ? std::optional(FixedFile{file, *text, *after}) : std::nullopt;
}

}  // namespace shardlab
