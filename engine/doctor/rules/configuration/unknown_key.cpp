// Keys of other versions.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule unknown_key() {
  return {
      .id = "configuration/unknown-key",
      .codes = {"Y-11"},
      .title = "a key that the installed version does not know",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source =
          "deepspeed/runtime/zero/config.py (pydantic, extra fields forbidden); "
          "transformers/training_args.py",
      .message =
          "The configuration has a key that the installed version does not have, or in another section.",
      .explanation =
          "Keys come and go with versions: ZeRO++ needs 0.10, and loss_scale belongs to fp16, not bf16.",
      .fix = {.kind = FixKind::command,
              .text = "import and export the configuration for the version (shardlab export), or take the "
                      "version that has the key"},
      .example =
          "ValidationError: 3 validation errors for DeepSpeedZeroConfig\nextra fields not permitted "
          "(type=value_error.extra)",
      .signs =
          {
              {.pattern = "you are using zero-offload with a client provided optimizer",
               .certainty = 82,
               .message = "ZeRO-Offload wants DeepSpeed's own CPU optimizer, and the program brings another.",
               .fix = "an \"optimizer\" section in the DeepSpeed file, deepspeed.ops.adam.DeepSpeedCPUAdam, "
                      "or \"zero_force_ds_cpu_optimizer\": false"},
              {.pattern = "do not set `gradient_accumulation_steps` in the deepspeed config",
               .certainty = 86,
               .message = "Lightning sets gradient_accumulation_steps of DeepSpeed itself, and the file has "
                          "it too.",
               .fix = "take it out of the DeepSpeed file; Trainer(accumulate_grad_batches=...) says it"},
              {.pattern = "misconfigurationexception*deepspeed config", .certainty = 70},
              {.pattern = "extra fields not permitted", .certainty = 92},
              {.pattern = "extra inputs are not permitted", .certainty = 92},
              {.pattern = "validation error*for deepspeed", .certainty = 86},
              {.pattern = "validation errors for deepspeed", .certainty = 86},
              {.pattern = "validation error*config", .certainty = 62},
              {.pattern = "typeerror*__init__() got an unexpected keyword argument",
               .certainty = 64,
               .unless = {"'fsdp"}},
              {.pattern = "got an unexpected keyword argument 'evaluation_strategy'", .certainty = 85},
              {.pattern = "trainingarguments.__init__() got an unexpected keyword", .certainty = 85},
              {.pattern = "some specified arguments are not used by the hfargumentparser", .certainty = 85},
              {.pattern = "some keys are not used by the hfargumentparser", .certainty = 88},
              {.pattern = "typeerror*got an unexpected keyword argument",
               .certainty = 58,
               .unless = {"forward() got", "training_step() got", "compute_loss() got"}},
              {.pattern = "unrecognized arguments", .certainty = 55},
              {.pattern = "unrecognized configuration", .certainty = 60},
              {.pattern = "unknown config*key", .certainty = 72},
              {.pattern = "unknown key*config", .certainty = 72},
          },
      .faults = {{.code = ErrorCode::unknown_key},
                 {.code = ErrorCode::unread_key, .tool = "accelerate"},
                 {.code = ErrorCode::unread_key, .tool = "transformers"}},
  };
}

}  // namespace

std::vector<Rule> configuration_unknown_key_rules() {
  return {unknown_key()};
}

}  // namespace shardlab
