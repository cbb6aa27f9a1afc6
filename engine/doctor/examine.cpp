#include "engine/doctor/examine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/files/check_faults.h"
#include "engine/doctor/flight/group_stands.h"
#include "engine/doctor/ignored_rules.h"
#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/lost_peer.h"
#include "engine/doctor/machine/machine_words.h"
#include "engine/doctor/order_findings.h"
#include "engine/doctor/unknown_failure.h"

namespace shardlab {
namespace {

constexpr std::size_t k_most_evidence = 4;

// The first need that is not met, over all ways of checking the rule: why it is skipped.
std::string why_skipped(const Rule& rule, const Case& facts) {
  if (is_advice(rule)) return "is advice, which nothing looks for";
  if (!is_checked(rule)) return "is not checked yet";
  for (const RuleCheck& check : rule.checks) {
    for (const Need need : check.needs) {
      if (!has(facts, need)) return std::string(why_missing(need));
    }
  }
  return std::string(why_missing(rule.signs.empty() && !rule.faults.empty() ? Need::files : Need::log));
}

// Several findings of one rule are one: the surest says it, the others add their evidence.
Finding merged(std::vector<Finding> findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.certainty > b.certainty; });
  Finding first = std::move(findings.front());
  for (std::size_t i = 1; i < findings.size(); ++i) {
    for (Evidence& evidence : findings[i].evidence) {
      const bool known =
          std::find(first.evidence.begin(), first.evidence.end(), evidence) != first.evidence.end();
      if (!known && first.evidence.size() < k_most_evidence) first.evidence.push_back(std::move(evidence));
    }
    first.ranks.insert(first.ranks.end(), findings[i].ranks.begin(), findings[i].ranks.end());
    first.severity = std::min(first.severity, findings[i].severity);
    if (!first.effect) first.effect = findings[i].effect;
    if (first.goal == Goal::none) {
      first.goal = findings[i].goal;
      first.remedies = std::move(findings[i].remedies);
      first.takes_all_remedies = findings[i].takes_all_remedies;
    }
  }
  std::sort(first.ranks.begin(), first.ranks.end());
  first.ranks.erase(std::unique(first.ranks.begin(), first.ranks.end()), first.ranks.end());
  return first;
}

// What the rule finds in all the ways whose needs are met; absent where those of none are.
std::optional<std::vector<Finding>> findings_of(const Rule& rule, const Case& facts) {
  bool applied = facts.log != nullptr && !rule.signs.empty();
  std::vector<Finding> found;
  if (applied) found = check_signs(rule, facts);
  if (facts.files != nullptr && !rule.faults.empty()) {
    applied = true;
    for (Finding& finding : check_faults(rule, facts)) found.push_back(std::move(finding));
  }
  for (const RuleCheck& check : rule.checks) {
    const bool possible =
        std::all_of(check.needs.begin(), check.needs.end(), [&](Need need) { return has(facts, need); });
    if (!possible) continue;
    applied = true;
    for (Finding& finding : check.run(rule, facts)) found.push_back(std::move(finding));
  }
  return applied ? std::optional(std::move(found)) : std::nullopt;
}

void apply(const Rule& rule, const Case& facts, const IgnoredRules& left_out, Examination& examination) {
  const auto skip = [&](std::string why) {
    examination.skipped.push_back({std::string(rule.id), std::move(why)});
  };
  if (left_out.has(rule)) return skip("is ignored");
  auto found = findings_of(rule, facts);
  if (!found) return skip(why_skipped(rule, facts));
  if (std::string why = left_out.take_out(rule, *found); !why.empty()) skip(std::move(why));
  if (!found->empty()) examination.findings.push_back(merged(*std::move(found)));
}

// A failure that no rule knows comes first where only its consequences were found, or nothing.
void add_unknown(Examination& examination, const Case& facts) {
  const bool explained =
      std::any_of(examination.findings.begin(), examination.findings.end(), [](const Finding& finding) {
        return finding.severity != Severity::info && finding.role != Role::consequence;
      });
  const auto unknown = explained ? std::nullopt : unknown_failure(facts);
  if (!unknown) return;
  if (tell_lost_peer(examination.findings, facts)) return;
  if (unknown->severity != Severity::info) {
    for (Finding& finding : examination.findings) finding.severity = Severity::info;
  } else if (!examination.findings.empty()) {
    return;
  }
  examination.findings.insert(examination.findings.begin(), *unknown);
}

void add_note(Examination& examination, const std::string& note) {
  if (!examination.note.empty() && !note.empty()) examination.note += ' ';
  examination.note += note;
}

}  // namespace

Examination examine(const Case& facts, const std::vector<Rule>& rules,
                    const std::vector<std::string>& ignored, const TryRemedies& try_remedies) {
  Examination examination;
  examination.source = facts.source;
  if (facts.log != nullptr) examination.log_lines = facts.log->lines;
  const IgnoredRules left_out(ignored, facts, rules);
  for (const Rule& rule : rules) apply(rule, facts, left_out, examination);
  add_note(examination, left_out.note());
  if (facts.files != nullptr) {
    for (Finding& finding : other_faults(rules, facts)) examination.findings.push_back(std::move(finding));
    add_note(examination, why_not_planned(*facts.files));
  }
  if (facts.flight != nullptr && group_stands(*facts.flight).empty())
    add_note(examination, fmt::format("In {} dump{} of flight recorders nobody waits in a collective.",
                                      facts.flight->size(), facts.flight->size() == 1 ? "" : "s"));
  if (facts.machines != nullptr) add_note(examination, words_of(*facts.machines));
  if (try_remedies) try_remedies(examination.findings);
  order_findings(examination.findings, facts);
  add_unknown(examination, facts);
  return examination;
}

bool is_above_info(const Examination& examination) {
  return std::any_of(examination.findings.begin(), examination.findings.end(),
                     [](const Finding& finding) { return finding.severity != Severity::info; });
}

}  // namespace shardlab
