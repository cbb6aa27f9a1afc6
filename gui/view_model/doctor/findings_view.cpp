#include "gui/view_model/doctor/findings_view.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/doctor/registry.h"
#include "engine/doctor/report/findings_report.h"
#include "engine/report/figures.h"

namespace shardlab::view {
namespace {

EvidenceLine log_evidence(const Evidence& evidence) {
  return {evidence.where, evidence.text, std::nullopt, {}, evidence.line};
}

std::string text_at(const Evidence& evidence) {
  if (evidence.where.empty() || evidence.text.empty()) return evidence.where + evidence.text;
  return fmt::format("{}: {}", evidence.where, evidence.text);
}

EvidenceLine scenario_evidence(const Evidence& evidence, const LoadedRun* run) {
  if (run != nullptr && evidence.instruction &&
      evidence.instruction->index() < run->plan().instructions.size())
    return {run->words().instruction(*evidence.instruction), text_at(evidence), evidence.instruction, {}, 0};
  if (!evidence.key.empty())
    return {evidence.text.empty() ? evidence.key : evidence.text, evidence.where, std::nullopt, evidence.key,
            0};
  return {evidence.where, evidence.text, std::nullopt, {}, 0};
}

template <typename Unit>
EffectLine effect_line(std::string what, Unit before, Unit after) {
  EffectLine line{std::move(what), to_string(before), to_string(after), {}, after < before};
  if (after == before) return line;
  line.change = before.value > 0 ? signed_percent(static_cast<double>(after.value - before.value) /
                                                  static_cast<double>(before.value))
                                 : "new";
  return line;
}

std::vector<EffectLine> effect_lines(const Effect& effect) {
  const Cost &before = effect.before, &after = effect.after;
  std::vector<EffectLine> lines = {effect_line("peak", before.peak, after.peak)};
  if (before.reserved && after.reserved)
    lines.push_back(effect_line("reserved", *before.reserved, *after.reserved));
  lines.push_back(effect_line("step time", before.step_time, after.step_time));
  lines.push_back(effect_line("exposed communication", before.exposed, after.exposed));
  return lines;
}

std::string verdict_of(const Effect& effect) {
  if (!effect.before.fits || !effect.after.fits) return {};
  if (const auto& too_much = effect.after.too_much)
    return fmt::format("it still does not fit: {} too much", to_string(*too_much));
  if (!*effect.after.fits) return "it still does not fit";
  return *effect.before.fits ? "" : "then it fits";
}

std::string rule_of(const Finding& finding) {
  if (finding.codes.empty()) return finding.rule;
  return fmt::format("{} {}", fmt::join(finding.codes, ", "), finding.rule);
}

std::string explanation_of(const Finding& finding) {
  if (finding.of_its_own) return {};
  const auto rule = find_rule(finding.rule);
  return rule ? std::string((*rule)->explanation) : std::string();
}

FindingCard card_of(const Finding& finding) {
  FindingCard card;
  card.severity = finding.severity;
  card.heading = std::string(to_string(finding.severity)) + on_ranks(finding);
  card.title = finding.title;
  card.rule = rule_of(finding);
  card.message = finding.message;
  card.why = explanation_of(finding);
  card.fix = finding.fix.text;
  card.set = finding.fix.set;
  card.can_apply = finding.fix.kind == FixKind::settings && !finding.fix.set.empty() && finding.effect;
  if (finding.effect) {
    card.effect = effect_lines(*finding.effect);
    card.verdict = verdict_of(*finding.effect);
  }
  return card;
}

std::vector<SkippedRules> skipped_rules(const std::vector<Skipped>& skipped) {
  std::vector<SkippedRules> found;
  for (const Skipped& each : skipped) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const SkippedRules& known) { return known.why == each.why; });
    (same == found.end() ? found.emplace_back(SkippedRules{each.why, {}}) : *same).rules.push_back(each.rule);
  }
  return found;
}

std::string counts_of(const Examination& examination) {
  const std::size_t looked_for = all_rules().size() - examination.skipped.size();
  if (examination.findings.empty()) return fmt::format("Nothing found by {} rules", looked_for);
  const auto count = [&](Severity severity) {
    return std::count_if(examination.findings.begin(), examination.findings.end(),
                         [&](const Finding& finding) { return finding.severity == severity; });
  };
  std::vector<std::string> parts;
  if (const auto errors = count(Severity::error)) parts.push_back(counted(errors, "error"));
  if (const auto warnings = count(Severity::warning)) parts.push_back(counted(warnings, "warning"));
  if (const auto infos = count(Severity::info)) parts.push_back(fmt::format("{} worth knowing", infos));
  return fmt::format("{}", fmt::join(parts, ", "));
}

FindingsView findings_view(const Examination& examination,
                           const std::function<EvidenceLine(const Evidence&)>& line_of) {
  FindingsView view;
  view.source = examination.source;
  view.counts = counts_of(examination);
  for (const Finding& finding : examination.findings) {
    view.cards.push_back(card_of(finding));
    for (const Evidence& evidence : finding.evidence) view.cards.back().evidence.push_back(line_of(evidence));
  }
  view.skipped = skipped_rules(examination.skipped);
  if (!examination.skipped.empty())
    view.skipped_words = fmt::format("{} rule{} skipped", examination.skipped.size(),
                                     examination.skipped.size() == 1 ? " was" : "s were");
  view.note = examination.note;
  return view;
}

}  // namespace

FindingsView scenario_findings(const Examination& examination, const LoadedRun* run) {
  return findings_view(examination,
                       [run](const Evidence& evidence) { return scenario_evidence(evidence, run); });
}

FindingsView log_findings(const Examination& examination) {
  return findings_view(examination, log_evidence);
}

}  // namespace shardlab::view
