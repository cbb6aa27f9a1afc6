// A rank that does not take part in a collective that the others wait in.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
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

std::string standing(const std::pair<const int, SeenCollective>& member) {
  const CollectiveMessage& message = member.second.message;
  return fmt::format("rank {} at collective {}{}{}", member.first, message.sequence.value_or(0),
                     message.operation.empty() ? "" : " ", message.operation);
}

// Ranks of one group whose watchdogs name different collectives: the one with the lowest number is behind.
std::vector<Finding> check_sequences(const Rule& rule, const Case& facts) {
  for (const auto& [group, members] : by_group(*facts.log)) {
    const auto number = [](const auto* member) { return member->second.message.sequence.value_or(-1); };
    const auto less = [&](const auto* a, const auto* b) { return number(a) < number(b); };
    const auto [low, high] = std::minmax_element(members.begin(), members.end(), less);
    if (low == members.end() || number(*low) < 0) continue;
    const std::string& operation = (*low)->second.message.operation;
    const auto other = std::find_if(members.begin(), members.end(), [&](const auto* member) {
      return number(member) == number(*low) && !operation.empty() &&
             !member->second.message.operation.empty() && member->second.message.operation != operation;
    });
    const bool behind = number(*low) != number(*high);
    if (!behind && other == members.end()) continue;
    const auto* beside = behind ? *high : *other;
    Finding finding = finding_of(rule);
    finding.message = fmt::format("Ranks of one group stand at different collectives: {}, {}.",
                                  standing(**low), standing(*beside));
    finding.certainty = group.empty() && behind ? 60 : 85;
    finding.position = (*low)->second.at.line;
    finding.evidence = {evidence_of(facts, (*low)->second.at), evidence_of(facts, beside->second.at)};
    return {finding};
  }
  return {};
}

Rule rank_skips() {
  return {
      .id = "collectives/rank-skips",
      .codes = {"A-01", "C-21"},
      .title = "ranks do not issue the same collectives",
      .severity = Severity::error,
      .needs = {Need::measurement, Need::log},
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
              {.pattern = "collective mismatch", .certainty = 80},
              {.pattern = "inconsistent collective*", .certainty = 70},
              {.pattern = "disagrees about the order of collectives", .certainty = 80},
          },
      .checks = {{.needs = {Need::log}, .run = check_sequences}},
  };
}

}  // namespace

std::vector<Rule> collectives_rank_skips_collective_rules() {
  return {rank_skips()};
}

}  // namespace shardlab
