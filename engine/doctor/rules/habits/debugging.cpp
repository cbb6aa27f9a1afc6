// How to see more.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule debug_logging() {
  return {
      .id = "habits/debug-logging",
      .codes = {"E-37"},
      .title = "debug output of DeepSpeed",
      .severity = Severity::info,
      .needs = {},
      .source = "deepspeed/utils/logging.py",
      .message = "Output is a matter of Python's logging or of the launcher; no JSON key does it.",
      .explanation = "A section called logging is not read.",
      .fix = {.kind = FixKind::code,
              .text =
                  "logging.getLogger(\"DeepSpeed\").setLevel(logging.DEBUG), or deepspeed --log_level debug"},
      .example = "a wish for more output",
  };
}

Rule memory_profile() {
  return {
      .id = "habits/memory-profile",
      .codes = {"E-38"},
      .title = "profile memory",
      .severity = Severity::info,
      .needs = {},
      .source = "torch.cuda.memory._record_memory_history",
      .message = "Record the allocator's history and look at the snapshot.",
      .explanation = "It names every block with its stack.",
      .fix = {.kind = FixKind::command,
              .text = "record a snapshot and give it to `shardlab replay`, which lists what lives at its "
                      "peak by the line that asked for it"},
      .example = "a peak that nobody can explain",
  };
}

}  // namespace

std::vector<Rule> habits_debugging_rules() {
  return {debug_logging(), memory_profile()};
}

}  // namespace shardlab
