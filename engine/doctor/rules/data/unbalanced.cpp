// Unequal work.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule unbalanced() {
  return {
      .id = "data/unbalanced",
      .codes = {"E-17"},
      .title = "ranks have unequal work",
      .severity = Severity::warning,
      .needs = {Need::measurement},
      .threshold = "spread of compute time above 10 % (a proposal, to be tuned)",
      .source = "shardlab's measurement",
      .message = "Ranks take different times for the same step.",
      .explanation = "Sequence lengths or batches differ; the slowest sets the pace of every collective.",
      .fix = {.kind = FixKind::code, .text = "equalise lengths (bucketing, packing) or batches"},
      .example = "forward times of 80 ms and 131 ms on two ranks",
  };
}

}  // namespace

std::vector<Rule> data_unbalanced_rules() {
  return {unbalanced()};
}

}  // namespace shardlab
