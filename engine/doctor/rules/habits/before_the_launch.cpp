// What is cheap to look at before a job.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule record_network() {
  return {
      .id = "habits/record-network",
      .codes = {"E-34"},
      .title = "test the network first",
      .severity = Severity::info,
      .needs = {},
      .source = "nccl-tests",
      .message =
          "Measure bandwidth and latency between nodes before the job, and list what the firewall lets "
          "through.",
      .explanation = "A slow or closed link looks like a slow or hanging program.",
      .fix = {.kind = FixKind::command, .text = "nccl-tests, ib_write_bw, nc between every pair of nodes"},
      .example = "a new cluster",
  };
}

Rule validate_model() {
  return {
      .id = "habits/validate-model",
      .codes = {"E-39"},
      .title = "check the model before the launch",
      .severity = Severity::info,
      .needs = {},
      .source = "shardlab scenario and shardlab model",
      .message = "Look at type, tied weights, unused parameters and layer class before the job starts.",
      .explanation = "Each of them fails late.",
      .fix = {.kind = FixKind::command, .text = "shardlab model M and shardlab doctor S before the launch"},
      .example = "a new model",
  };
}

Rule measure_communication() {
  return {
      .id = "habits/measure-communication",
      .codes = {"E-40"},
      .title = "measure communication",
      .severity = Severity::info,
      .needs = {},
      .source = "shardlab calibrate",
      .message = "Measure gather, reduce-scatter and all-reduce over sizes, and fit latency and bandwidth.",
      .explanation = "Predictions are as good as these figures.",
      .fix = {.kind = FixKind::command, .text = "shardlab calibrate, or nccl-tests"},
      .example = "a new cluster",
  };
}

Rule checklist() {
  return {
      .id = "habits/checklist",
      .codes = {"E-44"},
      .title = "checklist before a long run",
      .severity = Severity::info,
      .needs = {},
      .source = "the guides",
      .message =
          "Stage, offload, precision, timeouts, sampler, checkpoints, accumulation, activation checkpointing "
          "and monitoring are decided.",
      .explanation = "Each is cheap to decide before and dear after.",
      .fix = {.kind = FixKind::command,
              .text = "shardlab scenario S --write shows all settings with their defaults"},
      .example = "a scenario with few settings",
  };
}

}  // namespace

std::vector<Rule> habits_before_the_launch_rules() {
  return {record_network(), validate_model(), measure_communication(), checklist()};
}

}  // namespace shardlab
