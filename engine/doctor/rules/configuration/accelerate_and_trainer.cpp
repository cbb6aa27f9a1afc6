// Files of accelerate and of transformers' Trainer.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule accelerate_rejects() {
  return {
      .id = "configuration/accelerate-rejects",
      .codes = {"A-20"},
      .title = "accelerate rejects the configuration",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source = "accelerate/commands/config/config_args.py",
      .message = "A key, type or value of the file is not what this version of accelerate reads.",
      .explanation = "Keys come and go with versions, and a YAML of another tool has others.",
      .fix = {.kind = FixKind::command,
              .text = "write a fresh file: shardlab export S --to accelerate, or accelerate config"},
      .example =
          "ValueError: The config file at accelerate/default_config.yaml had unknown keys "
          "(['enable_cpu_affinity']), please try upgrading your `accelerate` version",
      .signs =
          {
              {.pattern = "can't work on its own", .certainty = 80},
              {.pattern = "fsdp*mutually exclusive", .certainty = 78},
              {.pattern = "fsdp*must be one of", .certainty = 72},
              {.pattern = "the config file at*had unknown keys", .certainty = 95},
              {.pattern = "had unknown keys ([", .certainty = 93},
              {.pattern = "accelerate*unknown key", .certainty = 85},
              {.pattern = "fsdp_config*unexpected keyword", .certainty = 80},
              {.pattern = "unexpected keyword argument",
               .certainty = 78,
               .frame = "fullyshardeddataparallelplugin"},
              {.pattern = "__init__() got an unexpected keyword argument 'fsdp", .certainty = 82},
              {.pattern = "fullyshardeddataparallelplugin.__init__() got an unexpected", .certainty = 90},
              {.pattern = "is not a valid shardingstrategy", .certainty = 85},
              {.pattern = "valueerror: fsdp_*", .certainty = 72},
              {.pattern = "invalid sharding strategy", .certainty = 82},
              {.pattern = "fsdp_sharding_strategy*invalid", .certainty = 82},
              {.pattern = "is not a valid fsdpoption", .certainty = 82},
              {.pattern = "is not a valid computeenvironment", .certainty = 88},
              {.pattern = "is not a valid distributedtype", .certainty = 88},
              {.pattern = "accelerate config*invalid", .certainty = 70},
              {.pattern = "is not a valid backwardprefetch", .certainty = 85},
              {.pattern = "keyerror: 'fsdp", .certainty = 60},
              {.pattern = "`fsdp_config`*deprecated", .certainty = 30, .most = Severity::info},
          },
      .faults = {{.code = ErrorCode::none, .tool = "accelerate"},
                 {.code = ErrorCode::unknown_key, .tool = "accelerate"}},
  };
}

}  // namespace

std::vector<Rule> configuration_accelerate_and_trainer_rules() {
  return {accelerate_rejects()};
}

}  // namespace shardlab
