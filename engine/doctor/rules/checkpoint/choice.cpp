// Which form a checkpoint should have.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule not_for_plain_model() {
  return {
      .id = "checkpoint/not-for-plain-model",
      .codes = {"A-14", "B-15"},
      .title = "a sharded checkpoint does not load in a plain model",
      .severity = Severity::info,
      .needs = {Need::configuration},
      .source = "torch/distributed/checkpoint/format_utils.py",
      .message = "The last save is sharded; a single process needs a full one.",
      .explanation = "Convert offline (torch.distributed.checkpoint.format_utils) or save once as full.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=full"},
              .text = "save the last one as full"},
      .example = "--set checkpoint.type=sharded for inference",
  };
}

Rule state_dict_choice() {
  return {
      .id = "checkpoint/state-dict-choice",
      .codes = {"D-24"},
      .title = "the type of the checkpoint does not suit its use",
      .severity = Severity::info,
      .needs = {Need::configuration},
      .threshold = "full and above 10 billion parameters (a proposal, to be tuned)",
      .source = "torch.distributed.fsdp.StateDictType",
      .message = "Full is portable and slow, sharded is for resuming, local for the same world only.",
      .explanation = "A full state dict above ten billion parameters is gathered through one host.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=sharded"},
              .text = "save sharded while training, full at the end"},
      .example = "--set checkpoint.type=full for 70 billion parameters",
  };
}

}  // namespace

std::vector<Rule> checkpoint_choice_rules() {
  return {not_for_plain_model(), state_dict_choice()};
}

}  // namespace shardlab
