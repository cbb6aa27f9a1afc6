#include "engine/doctor/flight/stand_findings.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/doctor/flight/planned_collective.h"
#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"

namespace shardlab {
namespace {

using Kind = GroupStand::Kind;

constexpr std::size_t k_named = 4, k_shown = 2;

std::string ranks_words(const std::vector<int>& ranks) {
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  if (ranks.size() == 2) return fmt::format("ranks {} and {}", ranks.front(), ranks.back());
  const std::size_t named = std::min(ranks.size(), k_named);
  return fmt::format("ranks {}{}",
                     fmt::join(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                     ranks.size() > named ? fmt::format(" and {} others", ranks.size() - named) : "");
}

std::vector<int> ranks_of(const std::vector<RankStand>& stands) {
  std::vector<int> ranks;
  for (const RankStand& stand : stands) ranks.push_back(stand.dump->rank);
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::string capital(std::string text) {
  if (!text.empty() && text.front() == 'r') text.front() = 'R';
  return text;
}

std::string not_called(const GroupStand& stand) {
  const RankStand& behind = stand.elsewhere.front();
  const std::string last =
      behind.entry == nullptr
          ? "issued none there"
          : fmt::format("issued collective {} last, {}", behind.entry->sequence, words_of(*behind.entry));
  return fmt::format("{} did not call collective {} of group {}, {}, in which {} wait{}: it {}.",
                     capital(ranks_words(ranks_of(stand.elsewhere))), stand.sequence, stand.group,
                     words_of(*stand.there.front().entry), ranks_words(ranks_of(stand.there)),
                     stand.there.size() == 1 ? "s" : "", last);
}

std::string differs(const GroupStand& stand) {
  return fmt::format("Collective {} of group {} is {} on {} and {} on {}.", stand.sequence, stand.group,
                     words_of(*stand.elsewhere.front().entry), ranks_words(ranks_of(stand.elsewhere)),
                     words_of(*stand.there.front().entry), ranks_words(ranks_of(stand.there)));
}

std::string not_done(const GroupStand& stand) {
  std::vector<int> waiting;
  for (const RankStand& each : stand.there) {
    if (!each.entry->is_started) waiting.push_back(each.dump->rank);
  }
  std::string text = fmt::format("{} called collective {} of group {}, {}, and it does not end",
                                 capital(ranks_words(ranks_of(stand.there))), stand.sequence, stand.group,
                                 words_of(*stand.there.front().entry));
  if (!waiting.empty() && waiting.size() < stand.there.size())
    text +=
        fmt::format("; on {} it has not begun, because the device has earlier work", ranks_words(waiting));
  return text + ".";
}

std::string message_of(const GroupStand& stand) {
  std::string text = stand.kind == Kind::not_called ? not_called(stand)
                     : stand.kind == Kind::not_done ? not_done(stand)
                                                    : differs(stand);
  if (!stand.without_dump.empty())
    text += fmt::format(" {} left no dump: ended before, or not given.",
                        capital(ranks_words(stand.without_dump)));
  return text;
}

Evidence evidence_of(const RankStand& stand) {
  Evidence evidence{stand.dump->source, "no collective of the group", "its recorder has none"};
  evidence.rank = stand.dump->rank;
  if (stand.entry == nullptr) return evidence;
  evidence.where = fmt::format("collective {}", stand.entry->sequence);
  evidence.text = words_of(*stand.entry);
  if (!stand.entry->called_from.empty()) evidence.text += ", called from " + stand.entry->called_from;
  return evidence;
}

// What the plan does there, where a scenario beside the dumps has one.
void add_instruction(Finding& finding, const Case& facts, const GroupStand& stand) {
  if (facts.job == nullptr || facts.job->planned == nullptr) return;
  const auto instruction = planned_collective(facts.job->planned->plan.steady, *stand.there.front().dump,
                                              stand.group, stand.sequence);
  if (instruction) finding.evidence.push_back(evidence_of_instruction(facts, *instruction));
}

Finding finding_about(const Rule& rule, const Case& facts, const GroupStand& stand, bool is_only) {
  Finding finding = finding_of(rule);
  finding.message = message_of(stand);
  finding.certainty = stand.kind == Kind::not_done ? 80 : 97;
  // A group whose ranks stand together may wait because another one does not.
  if (stand.kind == Kind::not_done && !is_only) finding.role = Role::symptom;
  finding.ranks = ranks_of(stand.elsewhere);
  const bool blames = !finding.ranks.empty();
  for (const auto* ranks : {&stand.elsewhere, &stand.there}) {
    for (std::size_t i = 0; i < std::min(ranks->size(), k_shown); ++i)
      finding.evidence.push_back(evidence_of((*ranks)[i]));
  }
  add_instruction(finding, facts, stand);
  if (!blames) {
    for (Evidence& evidence : finding.evidence) evidence.rank.reset();
  }
  return finding;
}

}  // namespace

std::vector<Finding> stand_findings(const Rule& rule, const Case& facts,
                                    std::initializer_list<GroupStand::Kind> kinds) {
  const std::vector<GroupStand> stands = group_stands(*facts.flight);
  std::vector<Finding> findings;
  for (const GroupStand& stand : stands) {
    if (std::find(kinds.begin(), kinds.end(), stand.kind) != kinds.end())
      findings.push_back(finding_about(rule, facts, stand, stands.size() == 1));
  }
  return findings;
}

}  // namespace shardlab
