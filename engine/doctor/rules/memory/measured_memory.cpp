// What a measured run shows of its memory.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule tensors_kept() {
  return {
      .id = "memory/tensors-kept",
      .codes = {"C-06"},
      .title = "memory grows from step to step",
      .severity = Severity::warning,
      .needs = {Need::measurement, Need::log},
      .threshold = "allocated memory at the same point of three steps grows",
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
      .example = "MA 10.2 GB ... MA 10.9 GB ... MA 11.6 GB at the same line of three steps",
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
          "What the model of memory does not know is the clue: list the largest live tensors of a snapshot.",
      .fix = {.kind = FixKind::command,
              .text = "`shardlab replay SNAPSHOT` lists the largest live blocks; `shardlab diff` compares "
                      "the run with its prediction"},
      .example = "a measured peak of 61 GiB, predicted 52 GiB",
      .checks = {{.needs = {Need::prediction, Need::measurement}, .run = check_measured_peak}},
  };
}

}  // namespace

std::vector<Rule> memory_measured_memory_rules() {
  return {tensors_kept(), above_prediction()};
}

}  // namespace shardlab
