// First settings by size of the model.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule start_small() {
  return {
      .id = "strategy/start-small",
      .codes = {"E-41"},
      .title = "where to start below 1 billion parameters",
      .severity = Severity::info,
      .needs = {},
      .source = "the guides; shardlab's prediction",
      .message = "Start from stage 1 and a micro-batch of 8.",
      .explanation = "States fit; the fewer collectives the better.",
      .fix = {.kind = FixKind::settings, .text = "stage 1, micro-batch 8"},
      .example = "a model of 300 million parameters",
  };
}

Rule start_medium() {
  return {
      .id = "strategy/start-medium",
      .codes = {"E-42"},
      .title = "where to start from 1 to 10 billion parameters",
      .severity = Severity::info,
      .needs = {},
      .source = "the guides; shardlab's prediction",
      .message = "Start from stage 2 with the optimizer offloaded and a micro-batch of 4.",
      .explanation = "Offload is dropped where the prediction fits without it.",
      .fix = {.kind = FixKind::settings, .text = "stage 2, offload.optimizer, micro-batch 4"},
      .example = "a model of 7 billion parameters",
  };
}

Rule start_large() {
  return {
      .id = "strategy/start-large",
      .codes = {"E-43"},
      .title = "where to start above 10 billion parameters",
      .severity = Severity::info,
      .needs = {},
      .source = "the guides; shardlab's prediction",
      .message = "Start from stage 3 with both offloads and a micro-batch of 2.",
      .explanation = "What the prediction does not need is dropped.",
      .fix = {.kind = FixKind::settings, .text = "stage 3, both offloads, micro-batch 2"},
      .example = "a model of 70 billion parameters",
  };
}

}  // namespace

std::vector<Rule> strategy_where_to_start_rules() {
  return {start_small(), start_medium(), start_large()};
}

}  // namespace shardlab
