#include "engine/cli/doctor/failed_run.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "engine/cli/doctor/doctor_target.h"
#include "engine/doctor/examine.h"
#include "engine/doctor/log/log_reader.h"
#include "engine/doctor/registry.h"
#include "engine/execute/run_folder.h"

namespace shardlab {
namespace {

namespace fs = std::filesystem;

// In the order in which they were last written: a rank that fails first falls silent first.
std::vector<fs::path> rank_logs(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> logs;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (is_run_file(name) && name.ends_with(".log"))
      logs.emplace_back(at->last_write_time(ignored), at->path());
  }
  std::sort(logs.begin(), logs.end());
  std::vector<fs::path> files;
  for (auto& [time, file] : logs) files.push_back(std::move(file));
  return files;
}

// What is told first, if it is a cause that a rule knows.
std::optional<Finding> cause_in(const LogFacts& log, const std::string& source) {
  Case known;
  known.source = source;
  known.log = &log;
  Examination examination = examine(known, all_rules());
  if (examination.findings.empty()) return std::nullopt;
  Finding& first = examination.findings.front();
  const bool is_cause =
      first.severity != Severity::info && first.role != Role::consequence && !first.codes.empty();
  return is_cause ? std::optional(std::move(first)) : std::nullopt;
}

struct SeenCause {
  Finding finding;
  std::string file;
};

std::vector<SeenCause> causes_in(const std::vector<fs::path>& logs) {
  std::vector<SeenCause> causes;
  for (const fs::path& file : logs) {
    const auto log = read_log(file.string());
    auto cause = log ? cause_in(*log, file.string()) : std::nullopt;
    if (cause) causes.push_back({*std::move(cause), file.string()});
  }
  return causes;
}

Diagnosis diagnosis_of(const Finding& finding, std::string file) {
  return {finding.rule, finding.codes, finding.title, std::move(file)};
}

}  // namespace

std::optional<Diagnosis> diagnose_failed_run(const fs::path& folder, const Error& error) {
  const std::vector<SeenCause> seen = causes_in(rank_logs(folder));
  const LogFacts own_words = read_log(message_text(error) + "\n", all_signs());
  if (const auto told = cause_in(own_words, "error")) {
    const auto same = std::find_if(seen.begin(), seen.end(),
                                   [&](const SeenCause& each) { return each.finding.rule == told->rule; });
    return diagnosis_of(*told, same == seen.end() ? "" : same->file);
  }
  const auto surest = std::min_element(seen.begin(), seen.end(), [](const SeenCause& a, const SeenCause& b) {
    return std::pair(a.finding.role, -a.finding.certainty) < std::pair(b.finding.role, -b.finding.certainty);
  });
  return surest == seen.end() ? std::nullopt : std::optional(diagnosis_of(surest->finding, surest->file));
}

std::string diagnosis_text(const Diagnosis& diagnosis) {
  const std::string more =
      diagnosis.file.empty() ? fmt::format("--explain {}", diagnosis.rule) : diagnosis.file;
  return fmt::format("doctor: {}: {}; `shardlab doctor {}` says more", diagnosis.rule, diagnosis.title, more);
}

}  // namespace shardlab
