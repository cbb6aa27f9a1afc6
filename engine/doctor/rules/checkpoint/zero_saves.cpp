// What ZeRO-3 saves.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule gather_16_bit() {
  return {
      .id = "checkpoint/gather-16-bit",
      .codes = {"E-21"},
      .title = "ZeRO-3 saves partitions only",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::log},
      .source = "deepspeed/runtime/zero/config.py (stage3_gather_16bit_weights_on_model_save)",
      .message = "The last save of ZeRO-3 holds partitions of the whole training state.",
      .explanation =
          "Gathering 16-bit weights on save makes a file of 2 bytes a parameter instead of 14, and costs a "
          "gather.",
      .fix = {.kind = FixKind::settings, .text = "set stage3_gather_16bit_weights_on_model_save"},
      .example =
          "[WARNING] [engine.py:3581] Did not save the model because "
          "stage3_gather_16bit_weights_on_model_save is False",
      .signs =
          {
              {.pattern = "did not save the model because*stage3_gather_16bit_weights_on_model_save",
               .certainty = 85},
              {.pattern = "stage3_gather_16bit_weights_on_model_save=false", .certainty = 85},
              {.pattern = "stage3_gather_fp16_weights_on_model_save", .certainty = 60},
              {.pattern = "saving the full checkpoint instead, use zero_to_fp32", .certainty = 80},
              {.pattern = "with shape torch.size([0]) from checkpoint",
               .certainty = 93,
               .message = "The file holds empty tensors: it was saved from parameters that were partitioned, "
                          "without gathering them.",
               .fix = "gather while saving (stage3_gather_16bit_weights_on_model_save, or a full state dict "
                      "under FSDP), or convert a checkpoint of the partitions"},
          },
  };
}

Rule incremental() {
  return {
      .id = "checkpoint/incremental",
      .codes = {"E-23"},
      .title = "incremental checkpoints",
      .severity = Severity::info,
      .needs = {},
      .source = "deepspeed/runtime/engine.py",
      .message = "DeepSpeed has no incremental checkpoints.",
      .explanation =
          "No such feature was found in it; saves of the model alone between full saves do what is wanted.",
      .fix = {.kind = FixKind::code, .text = "save the model alone between full saves"},
      .example = "a wish for smaller saves",
  };
}

}  // namespace

std::vector<Rule> checkpoint_zero_saves_rules() {
  return {gather_16_bit(), incremental()};
}

}  // namespace shardlab
