#include "engine/doctor/examine_mistakes.h"

#include <utility>

#include <fmt/format.h>

namespace shardlab {
namespace {

Finding mistake(const std::string& file, const Error& error) {
  Finding finding;
  finding.rule = "scenario/mistake";
  finding.severity = Severity::error;
  finding.title = "a mistake in the scenario";
  finding.message =
      error.place.name.empty() ? error.what + "." : fmt::format("{}: {}.", error.place.name, error.what);
  const Place& place = error.place;
  Evidence evidence{place.file.empty() ? file : place.file, "", error.place.name};
  if (place.line > 0) evidence.where = fmt::format("line {}, column {}", place.line, place.column);
  evidence.line = place.line;
  evidence.key = place.name;
  finding.evidence.push_back(std::move(evidence));
  finding.fix = {
      FixKind::settings, {}, error.hint.empty() ? "correct it; docs/scenario.md has every key" : error.hint};
  finding.certainty = 100;
  return finding;
}

}  // namespace

bool is_mistake(const Error& error) {
  return error.kind == ErrorKind::bad_input && error.code != ErrorCode::no_database &&
         !is_of_the_machine(error);
}

Examination examine_mistakes(const std::string& file, const Error& error) {
  Examination examination;
  examination.source = file;
  if (error.parts.empty()) examination.findings.push_back(mistake(file, error));
  for (const Error& part : error.parts) examination.findings.push_back(mistake(file, part));
  return examination;
}

}  // namespace shardlab
