// What a measured run shows of its memory.
#include <map>

#include <fmt/format.h>

#include "engine/doctor/check_signs.h"

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<Finding> check_growing_log(const Rule& rule, const Case& facts) {
  const auto& seen = facts.log->growth;
  if (!seen) return {};
  Finding finding = finding_of(rule);
  const double factor = seen->growth.last / seen->growth.first;
  finding.message = fmt::format(
      "Memory grows as long as the job runs, by now to {:.2f} times what it was: something keeps references "
      "to tensors.",
      factor);
  finding.certainty = 80;
  finding.position = seen->at.line;
  finding.evidence = {evidence_of(facts, seen->at)};
  return {finding};
}

// What lives when a step begins, of the rank where it grows.
std::vector<Finding> check_growing_run(const Rule& rule, const Case& facts) {
  if (facts.job->measured_trace == nullptr) return {};
  std::map<int, MemoryTrack> by_rank;
  for (const StepTrace& step : facts.job->measured_trace->steps) {
    for (const RankTrace& rank : step.ranks) {
      if (!rank.memory.empty()) by_rank[rank.rank].take(static_cast<double>(rank.memory.front().live.value));
    }
  }
  for (const auto& [rank, track] : by_rank) {
    const auto growth = track.growth();
    if (!growth) continue;
    Finding finding = finding_of(rule);
    finding.ranks = {rank};
    finding.evidence = {
        evidence_of_measurement(facts, fmt::format("allocated at the beginning of a step, rank {}", rank),
                                fmt::format("{} in the first quarter of the steps, {} in the last",
                                            to_string(Bytes{static_cast<std::int64_t>(growth->first)}),
                                            to_string(Bytes{static_cast<std::int64_t>(growth->last)})))};
    return {finding};
  }
  return {};
}

Rule tensors_kept() {
  return {
      .id = "memory/tensors-kept",
      .codes = {"C-06"},
      .title = "memory grows from step to step",
      .severity = Severity::warning,
      .needs = {Need::measurement, Need::log},
      .threshold =
          "of 12 figures or more the quarters' medians grow by 10 %, each by a quarter of that (proposals, "
          "to "
          "be tuned)",
      .source = "torch.cuda.memory_allocated",
      .message =
          "Memory allocated at the same point grows from step to step: something keeps references to "
          "tensors.",
      .explanation =
          "A history of losses that keeps the graph, outputs collected for a metric, or hooks that store "
          "tensors do that. Returning cached blocks to the device does not lower the peak of what lives.",
      .fix =
          {.kind = FixKind::code,
           .text =
               "keep numbers, not tensors: loss.item() or loss.detach(); clear lists of outputs every step"},
      .example =
          "step 1  memory: 10.0GiB\n"
          "step 2  memory: 10.5GiB\n"
          "step 3  memory: 11.0GiB\n"
          "step 4  memory: 11.5GiB\n"
          "step 5  memory: 12.0GiB\n"
          "step 6  memory: 12.5GiB\n"
          "step 7  memory: 13.0GiB\n"
          "step 8  memory: 13.5GiB\n"
          "step 9  memory: 14.0GiB\n"
          "step 10  memory: 14.5GiB\n"
          "step 11  memory: 15.0GiB\n"
          "step 12  memory: 15.5GiB\n",
      .checks = {{.needs = {Need::log}, .run = check_growing_log},
                 {.needs = {Need::measurement}, .run = check_growing_run}},
  };
}

std::vector<Finding> check_measured_peak(const Rule& rule, const Case& facts) {
  constexpr double k_more = 1.1;
  const auto& measured = facts.job->measured->memory;
  const auto& predicted = facts.job->predicted->memory;
  if (!measured || !predicted) return {};
  if (static_cast<double>(measured->peak_allocated.value) <=
      k_more * static_cast<double>(predicted->peak_allocated.value))
    return {};
  Finding finding = finding_of(rule);
  finding.severity = Severity::info;
  finding.evidence = {
      evidence_of_figure(facts, "peak allocated",
                         fmt::format("{} measured, {} predicted", to_string(measured->peak_allocated),
                                     to_string(predicted->peak_allocated)))};
  return {finding};
}

Rule above_prediction() {
  return {
      .id = "memory/above-prediction",
      .codes = {"C-02"},
      .title = "the measured peak is above the prediction",
      .severity = Severity::warning,
      .needs = {Need::prediction, Need::measurement},
      .threshold = "measured above predicted by more than 10 % (a proposal, to be tuned)",
      .source = "shardlab's comparison",
      .message = "The measured peak exceeds the predicted one.",
      .explanation =
          "What the model of memory does not know is the clue: list what a snapshot has at its peak, by who "
          "asked for it.",
      .fix = {.kind = FixKind::command,
              .text = "`shardlab replay SNAPSHOT` lists the largest of what lives at the peak, by the line "
                      "that asked for it; `shardlab diff` compares the run with its prediction"},
      .example = "a measured peak of 61 GiB, predicted 52 GiB",
      .checks = {{.needs = {Need::prediction, Need::measurement}, .run = check_measured_peak}},
  };
}

}  // namespace

std::vector<Rule> memory_measured_memory_rules() {
  return {tensors_kept(), above_prediction()};
}

}  // namespace shardlab
