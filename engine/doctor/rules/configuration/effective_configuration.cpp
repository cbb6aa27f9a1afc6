// What nodes really run.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule effective_differs() {
  return {
      .id = "configuration/effective-differs",
      .codes = {"E-30"},
      .title = "nodes run different configurations",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "a comparison of hashes",
      .message = "The effective configuration differs between nodes.",
      .explanation = "Files, environment or versions differ; results do too.",
      .fix = {.kind = FixKind::command, .text = "compare the files, variables and versions of all nodes"},
      .example =
          "init.cc:1012 NCCL WARN Mismatched NCCL version detected : rank 0 version 22005 rank 4 version "
          "21805",
      .signs =
          {
              {.pattern = "mismatched nccl version detected", .certainty = 90},
              {.pattern = "nccl version mismatch", .certainty = 82},
          },
  };
}

}  // namespace

std::vector<Rule> configuration_effective_configuration_rules() {
  return {effective_differs()};
}

}  // namespace shardlab
