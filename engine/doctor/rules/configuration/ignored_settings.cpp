// Settings that are read by nobody.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule no_auto_wrap() {
  return {
      .id = "configuration/no-auto-wrap",
      .codes = {"D-30"},
      .title = "fsdp without auto_wrap",
      .severity = Severity::warning,
      .needs = {Need::files},
      .source = "transformers/trainer.py",
      .message = "The Trainer's fsdp option names a layer class but not auto_wrap: nothing is wrapped.",
      .explanation =
          "In transformers 4.x the class counts only with auto_wrap; the whole model becomes one unit.",
      .fix = {.kind = FixKind::settings, .text = "add auto_wrap to the option"},
      .example = "fsdp: full_shard with a layer class",
      .faults = {{.code = ErrorCode::no_auto_wrap}},
  };
}

Rule sharding_ignored() {
  return {
      .id = "configuration/sharding-ignored",
      .codes = {"X-01"},
      .title = "full sharding runs where less was asked for",
      .severity = Severity::warning,
      .needs = {Need::files},
      .source = "accelerate/utils/launch.py",
      .message = "A file of version 1 says fsdp_reshard_after_forward alone, which the launcher ignores.",
      .explanation = "Version 1 reads fsdp_sharding_strategy.",
      .fix = {.kind = FixKind::settings, .text = "say fsdp_sharding_strategy: SHARD_GRAD_OP"},
      .example = "fsdp_version: 1 with fsdp_reshard_after_forward: false",
      .faults = {{.code = ErrorCode::sharding_ignored}},
  };
}

Rule ignored_section() {
  return {
      .id = "configuration/ignored-section",
      .codes = {"X-20"},
      .title = "a section that DeepSpeed does not read",
      .severity = Severity::warning,
      .needs = {Need::files, Need::log},
      .source = "deepspeed/runtime/config.py",
      .message = "A top-level key of the file is none that DeepSpeed knows: it is ignored without a word.",
      .explanation =
          "Only its sections are validated, not the top level. Sections called communication_backend, "
          "communication, timeout, logging or checkpointing do nothing.",
      .fix = {.kind = FixKind::settings, .text = "remove the key or move it to its section"},
      .example = "{\"logging\": {\"level\": \"debug\"}}",
      .faults = {{.code = ErrorCode::unread_key, .tool = "deepspeed"}, {.code = ErrorCode::no_effect}},
  };
}

}  // namespace

std::vector<Rule> configuration_ignored_settings_rules() {
  return {no_auto_wrap(), sharding_ignored(), ignored_section()};
}

}  // namespace shardlab
