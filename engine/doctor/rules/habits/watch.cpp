// Habits and commands: nothing looks for them.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule watch_the_run() {
  return {
      .id = "habits/watch-the-run",
      .codes = {"D-28", "E-35"},
      .title = "watch a run",
      .severity = Severity::info,
      .needs = {},
      .source = "shardlab run",
      .message = "Sample device memory, utilisation and step time while it runs.",
      .explanation = "Most rules about speed need a measurement.",
      .fix = {.kind = FixKind::command, .text = "shardlab run records them; nvidia-smi dmon elsewhere"},
      .example = "a long run",
  };
}

Rule record_system() {
  return {
      .id = "habits/record-system",
      .codes = {"E-33"},
      .title = "record the system",
      .severity = Severity::info,
      .needs = {},
      .source = "shardlab's provenance of runs",
      .message = "Keep GPU, driver, CUDA and library versions with each run.",
      .explanation = "Two runs cannot be compared without them.",
      .fix = {.kind = FixKind::command,
              .text = "shardlab run stores them; python -m torch.utils.collect_env elsewhere"},
      .example = "a run that others should repeat",
  };
}

}  // namespace

std::vector<Rule> habits_watch_rules() {
  return {watch_the_run(), record_system()};
}

}  // namespace shardlab
