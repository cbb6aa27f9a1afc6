// A collective that did not end in time. Its check joins the lines of all ranks (log/log_facts.h).
#include <map>
#include <string>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/flight/stand_findings.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::size_t k_shown_ranks = 8;

// "ranks 0, 4 and 6 more".
std::string ranks_text(const std::map<int, SeenCollective>& collectives) {
  std::string text = collectives.size() == 1 ? "rank " : "ranks ";
  std::size_t shown = 0;
  for (const auto& [rank, seen] : collectives) {
    if (shown == k_shown_ranks) return text + fmt::format(" and {} more", collectives.size() - shown);
    text += fmt::format("{}{}", shown++ == 0 ? "" : ", ", rank);
  }
  return text;
}

std::vector<Finding> check_watchdogs(const Rule& rule, const Case& facts) {
  if (facts.log->collectives.empty()) return {};
  const SeenCollective& first = facts.log->collectives.begin()->second;
  Finding finding = finding_of(rule);
  finding.role = Role::symptom;
  finding.certainty = 76;
  finding.position = first.at.line;
  finding.message = fmt::format("The watchdog of {} gave up waiting", ranks_text(facts.log->collectives));
  if (!first.message.operation.empty()) finding.message += " for " + first.message.operation;
  if (first.message.sequence) finding.message += fmt::format(", collective {}", *first.message.sequence);
  if (first.message.elements_in)
    finding.message += fmt::format(" of {} elements", *first.message.elements_in);
  if (first.message.timeout_ms)
    finding.message += fmt::format(", after {} s", *first.message.timeout_ms / 1000);
  finding.message += ". The others may never have called it, or are late.";
  finding.evidence.push_back(evidence_of(facts, first.at));
  return {finding};
}

std::vector<Finding> check_dumps_together(const Rule& rule, const Case& facts) {
  return stand_findings(rule, facts, {GroupStand::Kind::not_done});
}

Rule timeout() {
  return {
      .id = "collectives/timeout",
      .codes = {"D-04", "E-15"},
      .title = "a collective timed out",
      .severity = Severity::error,
      .needs = {Need::log, Need::flight},
      .threshold = "the timeout of the process group, ten minutes by default with NCCL, thirty with Gloo",
      .source =
          "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp; torch.distributed.init_process_group(timeout)",
      .message = "A collective did not end within the timeout of its process group.",
      .explanation =
          "The watchdog ends the process when a collective takes longer than the timeout. Either one rank is "
          "late (data, checkpoint, evaluation on rank 0, a preprocessing step) or it will never come. "
          "Raising the timeout helps only against the first, so find the slow rank before: the one whose "
          "last completed or enqueued number is lowest.",
      .fix = {.kind = FixKind::code,
              .text = "find the rank that is late; where its work is legitimate, raise the timeout in "
                      "init_process_group(timeout=...), which transformers calls ddp_timeout and accelerate "
                      "InitProcessGroupKwargs"},
      .example =
          "[rank0]:[E ProcessGroupNCCL.cpp:607] [Rank 0] Watchdog caught collective operation timeout: "
          "WorkNCCL(SeqNum=7753, OpType=_REDUCE_SCATTER_BASE, NumelIn=544997376, NumelOut=68124672, "
          "Timeout(ms)=600000) ran for 600061 milliseconds before timing out.",
      .signs =
          {
              {.pattern = "received a dump signal due to a collective timeout",
               .certainty = 66,
               .role = Role::symptom},
              {.pattern = "failure detected by watchdog at work", .certainty = 60, .role = Role::symptom},
              {.pattern = "worknccl(*before timing out", .certainty = 72, .role = Role::symptom},
              {.pattern = "milliseconds before timing out", .certainty = 64, .role = Role::symptom},
              {.pattern = "watchdog caught collective operation timeout",
               .certainty = 75,
               .role = Role::symptom},
              {.pattern = "exception (either an error or timeout) detected by watchdog at work",
               .certainty = 55,
               .role = Role::symptom},
              {.pattern = "timeout at nccl work", .certainty = 65, .role = Role::symptom},
              {.pattern = "some nccl operations have failed or timed out",
               .certainty = 50,
               .role = Role::symptom},
              {.pattern = "worknccl(*ran for*milliseconds before timing out",
               .certainty = 74,
               .role = Role::symptom},
              {.pattern = "nccl watchdog thread terminated with exception*timeout",
               .certainty = 60,
               .role = Role::symptom},
              {.pattern = "caught collective operation timeout", .certainty = 72, .role = Role::symptom},
              {.pattern = "wait timeout after*ms",
               .certainty = 55,
               .role = Role::symptom,
               .unless = {"store"}},
              {.pattern = "nccl communicator was aborted on rank", .certainty = 50, .role = Role::symptom},
              {.pattern = "application timeout caused pair closure", .certainty = 60, .role = Role::symptom},
              {.pattern = "timed out waiting*for*operation to complete",
               .certainty = 50,
               .role = Role::symptom},
          },
      .checks = {{.needs = {Need::log}, .run = check_watchdogs},
                 {.needs = {Need::flight}, .run = check_dumps_together}},
  };
}

}  // namespace

std::vector<Rule> collectives_timeout_rules() {
  return {timeout()};
}

}  // namespace shardlab
