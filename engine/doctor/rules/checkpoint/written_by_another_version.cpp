// Versions of writer and reader.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule versions() {
  return {
      .id = "checkpoint/versions",
      .codes = {"E-18"},
      .title = "the checkpoint is of another version",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "deepspeed/checkpoint; torch/distributed/checkpoint",
      .message = "Writer and reader of the checkpoint are of different versions.",
      .explanation = "Formats of optimizer states and of engines change between versions.",
      .fix = {.kind = FixKind::command,
              .text = "state both versions; load with the version that wrote it, then save as plain tensors"},
      .example =
          "AttributeError: Can't get attribute 'LossScaler' on <module 'deepspeed.runtime.fp16.loss_scaler'>",
      .signs =
          {
              {.pattern = "unable to load optimizer from checkpoint", .certainty = 74},
              {.pattern = "unable to load*from checkpoint*specify --no-load", .certainty = 76},
              {.pattern = "attributeerror: can't get attribute*on <module", .certainty = 80},
              {.pattern = "modulenotfounderror*deepspeed", .certainty = 62, .frame = "load"},
              {.pattern = "modulenotfounderror*transformers_modules", .certainty = 50},
              {.pattern = "modulenotfounderror: no module named*unpickl", .certainty = 60},
              {.pattern = "keyerror: 'ds_version'", .certainty = 90},
              {.pattern = "keyerror: 'ds_config'", .certainty = 70},
              {.pattern = "checkpoint*version*mismatch", .certainty = 85},
              {.pattern = "unsupported checkpoint version", .certainty = 93},
              {.pattern = "checkpoint was saved with*version", .certainty = 80},
              {.pattern = "was saved with a newer version", .certainty = 92},
              {.pattern = "attempted to read a pytorch file with version", .certainty = 95},
              {.pattern = "maximum supported version for reading is", .certainty = 94},
              {.pattern = "keyerror: 'optimizer_state_dict'", .certainty = 60},
              {.pattern = "keyerror: 'base_optimizer_state'", .certainty = 80},
              {.pattern = "keyerror: 'single_partition_of_fp32_groups'", .certainty = 80},
              {.pattern = "keyerror: 'fp32_flat_groups'", .certainty = 80},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_written_by_another_version_rules() {
  return {versions()};
}

}  // namespace shardlab
