#include "engine/doctor/files/check_faults.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "engine/doctor/files/tool_files.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_evidence = 12;
constexpr int k_refused = 100, k_ignored = 80;  // certainty

const FileSign* sign_of(const FileFault& fault, const Rule& rule) {
  const auto found = std::find_if(rule.faults.begin(), rule.faults.end(),
                                  [&](const FileSign& sign) { return is_shown_by(fault, sign); });
  return found == rule.faults.end() ? nullptr : &*found;
}

// The one that does less harm.
Severity least_of(Severity a, Severity b) {
  return std::max(a, b);
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

Evidence evidence_of(const FileFault& fault) {
  Evidence evidence{fault.place.file, {}, fault.line.empty() ? fault.what : fault.line};
  if (fault.place.line > 0)
    evidence.where = fault.place.column > 0
                         ? fmt::format("line {}, column {}", fault.place.line, fault.place.column)
                         : fmt::format("line {}", fault.place.line);
  evidence.line = fault.place.line;
  return evidence;
}

// Adds a mistake to a finding that says the first one in full.
void add(Finding& finding, const FileFault& fault, bool is_first) {
  if (is_first) {
    finding.message = sentence(fault.what);
    if (!fault.hint.empty()) finding.fix = {FixKind::settings, {}, fault.hint};
    finding.certainty = fault.is_refused ? k_refused : k_ignored;
  }
  if (finding.evidence.size() >= k_most_evidence) return;
  Evidence evidence = evidence_of(fault);
  if (!is_first && !fault.line.empty())
    evidence.text += fmt::format(": {}{}", fault.what, fault.hint.empty() ? "" : " (" + fault.hint + ")");
  finding.evidence.push_back(std::move(evidence));
}

void count_others(Finding& finding, std::size_t all) {
  if (all > 1)
    finding.message += fmt::format(" {} of {} mistakes of this kind.", all > 2 ? "The first" : "One", all);
}

bool is_known(const FileFault& fault, const std::vector<Rule>& rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule& rule) { return sign_of(fault, rule) != nullptr; });
}

Finding plain_finding(const FileFault& fault) {
  Finding finding;
  finding.rule = fault.is_refused ? "file/mistake" : "file/remark";
  finding.severity = fault.is_refused ? Severity::error : Severity::info;
  finding.title = fault.is_refused ? "a mistake in a file" : "worth knowing of a file";
  finding.fix = {FixKind::settings, {}, "correct it there: the tool's own reader ends at it as well"};
  add(finding, fault, true);
  return finding;
}

}  // namespace

bool is_shown_by(const FileFault& fault, const FileSign& sign) {
  if (fault.code != sign.code || (sign.code == ErrorCode::none && !fault.is_refused)) return false;
  return sign.tool.empty() || sign.tool == fault.tool;
}

std::vector<Finding> check_faults(const Rule& rule, const Case& facts) {
  std::optional<Finding> finding;
  std::size_t all = 0;
  for (const FileFault& fault : facts.files->faults) {
    const FileSign* const sign = sign_of(fault, rule);
    if (sign == nullptr) continue;
    const Severity severity =
        least_of(least_of(rule.severity, sign->most), fault.is_refused ? Severity::error : Severity::warning);
    const bool is_first = !finding;
    if (is_first) finding = finding_of(rule);
    finding->severity = is_first ? severity : std::min(finding->severity, severity);
    add(*finding, fault, is_first);
    ++all;
  }
  if (!finding) return {};
  count_others(*finding, all);
  return {*std::move(finding)};
}

std::vector<Finding> other_faults(const std::vector<Rule>& rules, const Case& facts) {
  std::vector<Finding> findings;
  for (const FileFault& fault : facts.files->faults) {
    if (!is_known(fault, rules)) findings.push_back(plain_finding(fault));
  }
  return findings;
}

std::string why_not_planned(const ToolFiles& files) {
  if (files.not_planned.empty()) return {};
  return fmt::format("The files alone were looked at, nothing was planned or predicted: {}{}.",
                     files.not_planned, files.to_plan.empty() ? "" : " (" + files.to_plan + ")");
}

}  // namespace shardlab
