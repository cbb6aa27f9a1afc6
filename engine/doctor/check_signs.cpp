#include "engine/doctor/check_signs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace shardlab {
namespace {

// Subtracted from the certainty of a sign of which every line is better explained by another rule.
constexpr int k_explained_elsewhere = 30;

int weight(const LogSign& sign, const SeenSign& seen) {
  return seen.own ? sign.certainty : sign.certainty - k_explained_elsewhere;
}

}  // namespace

Evidence evidence_of(const Case& facts, const SeenLine& line) {
  return {facts.source, place_of(line), line.text, line.line, line.rank};
}

std::vector<Finding> check_signs(const Rule& rule, const Case& facts) {
  const LogSign* best = nullptr;
  const SeenSign* best_seen = nullptr;
  Severity most = Severity::info;
  for (const LogSign& sign : rule.signs) {
    const SeenSign* seen = facts.log->seen(sign);
    if (seen == nullptr) continue;
    // What is a warning, or only worth knowing, counts where nothing worse of the rule was seen.
    const bool better = best == nullptr || std::pair(sign.most, -weight(sign, *seen)) <
                                               std::pair(best->most, -weight(*best, *best_seen));
    most = std::min(most, sign.most);
    if (!better) continue;
    best = &sign;
    best_seen = seen;
  }
  if (best == nullptr) return {};

  Finding finding = finding_of(rule);
  const SeenLine& first = best_seen->own ? *best_seen->own : best_seen->lines.front();
  finding.role = best->role;
  finding.certainty = weight(*best, *best_seen);
  finding.position = first.line;
  finding.evidence.push_back(evidence_of(facts, first));
  if (!best->message.empty()) finding.message = best->message;
  if (!best->fix.empty()) {
    finding.fix = {FixKind::command, {}, std::string(best->fix)};
    finding.of_its_own = true;
  }
  finding.ranks.assign(best_seen->ranks.begin(), best_seen->ranks.end());
  if (best_seen->count > static_cast<std::int64_t>(std::max<std::size_t>(1, best_seen->ranks.size())))
    finding.message += fmt::format(" Seen {} times.", best_seen->count);
  finding.severity = std::max(finding.severity, most);
  // A line that another rule explains much better does not accuse.
  if (!best_seen->own) finding.severity = Severity::info;
  return {finding};
}

}  // namespace shardlab
