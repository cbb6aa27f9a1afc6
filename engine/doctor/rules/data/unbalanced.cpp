// Unequal work.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/measured_times.h"
#include "engine/doctor/job/speed_finding.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr double k_spread = 0.1;
constexpr double k_waited = 0.1;    // of a step
constexpr double k_last_for = 0.5;  // of the collectives

std::vector<Finding> of_computation(const Rule& rule, const Case& facts) {
  const auto spread = compute_spread(facts);
  if (!spread) return {};
  const double share = 1 - static_cast<double>(spread->least.value) / static_cast<double>(spread->most.value);
  if (share <= k_spread) return {};
  Finding finding = finding_of(rule);
  if (!is_on_gpus(facts)) finding.severity = Severity::info;  // others work on its processors
  finding.message =
      fmt::format("Rank {} computes {} a step and rank {} {}: the others wait for it.", spread->slowest,
                  to_string(spread->most), spread->fastest, to_string(spread->least));
  finding.ranks = {spread->slowest};
  finding.evidence = {
      evidence_of_measurement(facts, "computation of a step", share_words(share) + " less on one rank")};
  return {finding};
}

// A slow device hardly shows in computation: collectives that wait for it hold multiprocessors of the others,
// which compute as slowly then. Processors wait for each other for many other reasons.
std::vector<Finding> of_waiting(const Rule& rule, const Case& facts) {
  const auto straggler = is_on_gpus(facts) ? longest_waited_for(facts) : std::nullopt;
  if (!straggler || straggler->last <= k_last_for * straggler->collectives) return {};
  const double share =
      static_cast<double>(straggler->held_up.value) / static_cast<double>(straggler->step.value);
  if (share <= k_waited) return {};
  Finding finding = finding_of(rule);
  finding.message = fmt::format(
      "Rank {} comes last in {:.0f} of {:.0f} collectives, and the others wait {} for it in a step of {}.",
      straggler->rank, straggler->last, straggler->collectives, to_string(straggler->held_up),
      to_string(straggler->step));
  finding.ranks = {straggler->rank};
  finding.evidence = {
      evidence_of_measurement(facts, "waiting for one rank", share_words(share) + " of a step")};
  return {finding};
}

std::vector<Finding> check_ranks(const Rule& rule, const Case& facts) {
  std::vector<Finding> findings = of_computation(rule, facts);
  return findings.empty() ? of_waiting(rule, facts) : findings;
}

Rule unbalanced() {
  return {
      .id = "data/unbalanced",
      .codes = {"E-17"},
      .title = "ranks have unequal work",
      .severity = Severity::warning,
      .needs = {Need::plan, Need::prediction, Need::measurement},
      .threshold =
          "spread of compute time above 10 %, or one rank last in most collectives and waited for a "
          "tenth of the step (proposals, to be tuned)",
      .source = "shardlab's measurement",
      .message = "Ranks take different times for the same step.",
      .explanation =
          "Sequence lengths or batches differ, or one device is slower; the slowest sets the pace of "
          "every collective.",
      .fix = {.kind = FixKind::code,
              .text = "equalise lengths (bucketing, packing) or batches; where they are equal, look at that "
                      "rank's device: `shardlab doctor --machine`"},
      .example = "forward times of 80 ms and 131 ms on two ranks",
      .checks = {{.needs = {Need::plan, Need::prediction, Need::measurement}, .run = check_ranks}},
  };
}

}  // namespace

std::vector<Rule> data_unbalanced_rules() {
  return {unbalanced()};
}

}  // namespace shardlab
