// A rank that does not take part in a collective that the others wait in.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/flight/stand_findings.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

using Members = std::vector<const std::pair<const int, SeenCollective>*>;

// The ranks that speak of the same process group. Lines that name no group count as one of their own.
std::map<std::string, Members> by_group(const LogFacts& log) {
  std::map<std::string, Members> groups;
  for (const auto& member : log.collectives) groups[member.second.message.group].push_back(&member);
  return groups;
}

// Where a rank stands: at the collective that it waits in, or, with nothing pending, behind the last one that
// it issued.
std::int64_t stands_at(const Members::value_type member) {
  const CollectiveMessage& message = member->second.message;
  if (message.sequence) return *message.sequence;
  const std::int64_t issued = message.last_enqueued.value_or(-1);
  return std::min(issued, message.last_completed.value_or(issued) + 1);
}

bool waits_in_none(const CollectiveMessage& message) {
  return !message.sequence && message.last_enqueued == message.last_completed;
}

std::string standing(const std::pair<const int, SeenCollective>& member) {
  const CollectiveMessage& message = member.second.message;
  if (waits_in_none(message))
    return fmt::format("rank {} has issued {} and waits in none", member.first,
                       message.last_enqueued.value_or(0));
  return fmt::format("rank {} at collective {}{}{}", member.first, stands_at(&member),
                     message.operation.empty() ? "" : " ", message.operation);
}

bool calls_another(const CollectiveMessage& a, const CollectiveMessage& b) {
  return a.sequence == b.sequence && a.sequence && !a.operation.empty() && !b.operation.empty() &&
         a.operation != b.operation;
}

// The rank that is behind, and one that is before it or calls something else; nothing where all stand
// together.
std::optional<std::pair<Members::value_type, Members::value_type>> apart(const Members& members) {
  const auto less = [](const auto* a, const auto* b) { return stands_at(a) < stands_at(b); };
  const auto [low, high] = std::minmax_element(members.begin(), members.end(), less);
  if (low == members.end() || stands_at(*low) < 0) return std::nullopt;
  // Nobody knows what ranks that wait in nothing would have called next.
  if (stands_at(*low) != stands_at(*high) && !waits_in_none((*high)->second.message))
    return std::pair(*low, *high);
  const auto other = std::find_if(members.begin(), members.end(), [behind = *low](const auto* member) {
    return calls_another(behind->second.message, member->second.message);
  });
  if (other == members.end()) return std::nullopt;
  return std::pair(*low, *other);
}

// Ranks of one group whose watchdogs name different collectives: the one with the lowest number is behind.
std::vector<Finding> check_sequences(const Rule& rule, const Case& facts) {
  for (const auto& [group, members] : by_group(*facts.log)) {
    const auto ranks = apart(members);
    if (!ranks) continue;
    const auto& [behind, beside] = *ranks;
    Finding finding = finding_of(rule);
    finding.message = fmt::format("Ranks of one group stand at different collectives: {}, {}.",
                                  standing(*behind), standing(*beside));
    finding.certainty = group.empty() && stands_at(behind) != stands_at(beside) ? 60 : 85;
    finding.position = behind->second.at.line;
    finding.ranks = {behind->first};
    finding.evidence = {evidence_of(facts, behind->second.at), evidence_of(facts, beside->second.at)};
    return {finding};
  }
  return {};
}

std::vector<Finding> check_dumps(const Rule& rule, const Case& facts) {
  return stand_findings(rule, facts, {GroupStand::Kind::other_operation, GroupStand::Kind::not_called});
}

Rule rank_skips() {
  return {
      .id = "collectives/rank-skips",
      .codes = {"A-01", "C-21"},
      .title = "ranks do not issue the same collectives",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log, Need::flight},
      .threshold = "another sequence number, operation or size at the same index on two ranks",
      .source =
          "torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp (fingerprints of "
          "TORCH_DISTRIBUTED_DEBUG=DETAIL); NCCL's check of mismatched collectives",
      .message = "Ranks stand at different collectives: one of them skipped a call that the others wait in.",
      .explanation =
          "Every rank must issue the same collectives in the same order. Control flow that depends on the "
          "batch (an empty batch, an early break, a log line computed on rank 0 only) lets one rank skip "
          "one, and from then on pairs do not match: a hang, or wrong numbers.",
      .fix = {.kind = FixKind::code,
              .text = "run forward and backward on every rank in every step, also on an empty batch; equal "
                      "batches per rank (drop_last, a distributed sampler) remove the usual reason"},
      .example =
          "init.cc:1247 NCCL WARN Mismatched collective detected, please check your collective calls at and "
          "around rank 39.",
      .signs =
          {
              {.pattern = "is all-gathering*parameters*while rank*is all-gathering",
               .certainty = 90,
               .message = "Ranks gather units in different orders: one of them took another path through the "
                          "model."},
              {.pattern = "communicator ranks have different collective operation counts",
               .certainty = 60,
               .message = "NCCL's RAS saw ranks at different numbers of collectives. A spread of one is "
                          "usual while a "
                          "job runs.",
               .fix = "ask again after ten seconds (ncclras): counters that do not move are a hang, and the "
                      "ranks "
                      "with the lower number are behind",
               .most = Severity::info},
              {.pattern = "to our best knowledge*rank", .certainty = 88},
              {.pattern = "lagging/dead/mismatched ranks", .certainty = 90},
              {.pattern = "disagreement between rank0 and rank",
               .certainty = 88,
               .message =
                   "Ranks of ZeRO-3 ran different modules: DeepSpeed compares the parameters that each "
                   "fetches.",
               .fix = "let every rank run the same modules in the same order, also where a batch has nothing "
                      "for one of them (images, experts): run it on a dummy"},
              {.pattern = "snapshot of ranks' latest states", .certainty = 72, .role = Role::symptom},
              {.pattern = "retrievedesyncreport", .certainty = 86},
              {.pattern = "last trace item must be keventstart", .certainty = 88},
              {.pattern = "started ranks:", .certainty = 60},
              {.pattern = "mismatch between collectives", .certainty = 84},
              {.pattern = "mismatched collective", .certainty = 85},
              {.pattern = "detected mismatch between collectives on ranks", .certainty = 80},
              {.pattern = "collectives differ in the following aspects*sequence number", .certainty = 90},
              {.pattern = "collectives differ in the following aspects*op type", .certainty = 88},
              {.pattern = "is running collective*but rank*is running collective*op type", .certainty = 85},
              {.pattern = "monitoredbarrier*rank*failed to", .certainty = 85},
              {.pattern = "failed to pass monitoredbarrier", .certainty = 90},
              {.pattern = "reached monitoredbarrier*timeout", .certainty = 70},
              {.pattern = "ranks*successfully reached monitoredbarrier, but received errors",
               .certainty = 70,
               .role = Role::consequence},
              {.pattern = "last enqueued*differs across ranks", .certainty = 80},
              {.pattern = "not all ranks joining the same collective", .certainty = 88},
              {.pattern = "dumping flight recorder*desync", .certainty = 60, .role = Role::symptom},
              {.pattern = "- [*] joined but didn't finish collective",
               .certainty = 60,
               .role = Role::symptom},
              {.pattern = "finished collective*but didn't join collective", .certainty = 88},
              {.pattern = "last finished collective*but didn't join", .certainty = 88},
              {.pattern = "potential user/library scenarios*rank*calls different collectives",
               .certainty = 60},
              {.pattern = "uneven number of inputs*across ranks", .certainty = 70},
              {.pattern = "at least one rank that exhausted inputs", .certainty = 86},
              {.pattern = "collective mismatch", .certainty = 80},
              {.pattern = "inconsistent collective*", .certainty = 70},
              {.pattern = "disagrees about the order of collectives", .certainty = 80},
          },
      .checks = {{.needs = {Need::log}, .run = check_sequences},
                 {.needs = {Need::flight}, .run = check_dumps}},
  };
}

}  // namespace

std::vector<Rule> collectives_rank_skips_collective_rules() {
  return {rank_skips()};
}

}  // namespace shardlab
