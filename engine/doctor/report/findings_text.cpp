#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/text/utf8.h"
#include "engine/doctor/registry.h"
#include "engine/doctor/report/findings_report.h"

namespace shardlab {
namespace {

constexpr std::size_t k_longest_line = 160;

std::string shortened(const std::string& text) {
  if (text.size() <= k_longest_line) return text;
  return std::string(whole_characters(text, k_longest_line)) + "...";
}

std::string rule_words(const Finding& finding) {
  if (finding.codes.empty()) return finding.rule;
  return fmt::format("{} {}", finding.codes.front(), finding.rule);
}

std::string fix_words(const Fix& fix) {
  if (fix.set.empty()) return fix.text;
  return fmt::format("{} ({})", fix.text, fmt::join(fix.set, " "));
}

std::string change(std::string_view what, const std::string& before, const std::string& after) {
  if (before == after) return fmt::format("{} {} as before", what, after);
  return fmt::format("{} {} -> {}", what, before, after);
}

std::string fits_words(const Effect& effect) {
  if (!effect.after.fits || !effect.before.fits) return "";
  if (*effect.after.fits) return *effect.before.fits ? "" : ", fits";
  const auto& too_much = effect.after.too_much;
  return too_much ? fmt::format(", does not fit: still {} too much", to_string(*too_much)) : ", does not fit";
}

std::string effect_text(const Effect& effect) {
  const Cost &before = effect.before, &after = effect.after;
  std::string text = change("peak", to_string(before.peak), to_string(after.peak));
  if (before.reserved && after.reserved)
    text += ", " + change("reserved", to_string(*before.reserved), to_string(*after.reserved));
  text += ", " + change("step", to_string(before.step_time), to_string(after.step_time));
  text += ", " + change("exposed", to_string(before.exposed), to_string(after.exposed));
  return text + fits_words(effect);
}

// Why, in the words of the rule; what `--explain` says at greater length.
std::string why_words(const Finding& finding) {
  if (finding.of_its_own) return "";
  const auto rule = find_rule(finding.rule);
  return !rule || (*rule)->explanation.empty() ? "" : fmt::format("  why: {}\n", (*rule)->explanation);
}

std::string finding_text(const Finding& finding, bool with_why) {
  std::string text = fmt::format("{}{}: {} [{}]\n", to_string(finding.severity), on_ranks(finding),
                                 finding.message, rule_words(finding));
  for (const Evidence& evidence : finding.evidence)
    text += fmt::format("  seen in {}{}{}: {}\n", evidence.source, evidence.where.empty() ? "" : " ",
                        evidence.where, shortened(evidence.text));
  if (with_why) text += why_words(finding);
  text += fmt::format("  fix: {}\n", fix_words(finding.fix));
  if (finding.effect) text += fmt::format("  then: {}\n", effect_text(*finding.effect));
  return text;
}

bool is_seen_in(const Finding& finding, const std::string& source) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const Evidence& evidence) { return evidence.source == source; });
}

std::string written_words(const FixReport& report) {
  const bool fails = report.effect.after.fits == false;
  if (report.set.empty() && fails && report.left.empty())
    return fmt::format("{} is written as it was, and does not fit\n", report.file);
  if (report.set.empty())
    return fmt::format("{} is written; there was nothing {}\n", report.file,
                       report.left.empty() ? "to fix" : "that a setting fixes");
  std::string text = fmt::format("{} is written, with the fixes of {}{}\n", report.file,
                                 fmt::join(report.rules, ", "), fails ? ", and still does not fit" : "");
  for (const std::string& setting : report.set) text += fmt::format("  set: {}\n", setting);
  return text + fmt::format("  then: {}\n", effect_text(report.effect));
}

std::string count(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

std::string on_ranks(const Finding& finding) {
  constexpr std::size_t k_named = 6;
  constexpr std::size_t k_first = 3;
  std::vector<int> ranks = finding.ranks;
  if (ranks.empty() && !finding.evidence.empty() && finding.evidence.front().rank)
    ranks = {*finding.evidence.front().rank};
  if (ranks.empty()) return "";
  if (ranks.size() == 1) return fmt::format(" on rank {}", ranks.front());
  if (ranks.size() > k_named)
    return fmt::format(" on {} ranks ({}, ...)", ranks.size(),
                       fmt::join(ranks.begin(), ranks.begin() + k_first, ", "));
  return fmt::format(" on ranks {} and {}", fmt::join(ranks.begin(), ranks.end() - 1, ", "), ranks.back());
}

std::string findings_text(const std::vector<Examination>& examinations, bool all) {
  std::size_t errors = 0, warnings = 0, infos = 0, skipped = 0;
  std::int64_t known = 0;
  for (const Examination& examination : examinations) {
    known += examination.known;
    for (const Finding& finding : examination.findings) {
      errors += finding.severity == Severity::error;
      warnings += finding.severity == Severity::warning;
      infos += finding.severity == Severity::info;
    }
    skipped = std::max(skipped, examination.skipped.size());
  }
  std::string text;
  const bool show_infos = all || errors + warnings == 0;
  for (const Examination& examination : examinations) {
    bool first = examination.log_lines > 0;
    for (const Finding& finding : examination.findings) {
      if (finding.severity == Severity::info && !show_infos) continue;
      text += finding_text(finding, first) + "\n";
      first = false;
    }
    if (examination.findings.empty() && examination.known == 0 && examination.log_lines > 0)
      text += fmt::format("{}: {}, none of which tells of a failure\n", examination.source,
                          count(static_cast<std::size_t>(examination.log_lines), "line"));
    if (!examination.note.empty()) text += examination.note + "\n";
  }
  text += fmt::format("{}, {}", count(errors, "error"), count(warnings, "warning"));
  if (infos > 0)
    text += fmt::format(", {} worth knowing{}", infos, show_infos ? "" : " (--verbose shows them)");
  if (known > 0) text += fmt::format(", {} known before", known);
  return text + fmt::format("; {} skipped for want of what they need\n", count(skipped, "rule"));
}

std::string fix_text(const FixReport& report) {
  std::string text = written_words(report);
  for (const LeftFinding& each : report.left)
    text += "\n" + finding_text(each.finding, false) + fmt::format("  not fixed: {}\n", each.why);
  const bool is_of_log = std::any_of(report.left.begin(), report.left.end(), [&](const LeftFinding& each) {
    return is_seen_in(each.finding, report.log);
  });
  if (!report.log.empty() && !is_of_log)
    text += fmt::format("  {}: nothing in it is left to fix\n", report.log);
  return text;
}

}  // namespace shardlab
