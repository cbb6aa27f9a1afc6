// Types of state dicts that a version or an optimizer does not have.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule state_dict_of_version() {
  return {
      .id = "checkpoint/state-dict-of-version",
      .codes = {"S-07"},
      .title = "a state-dict type of the other version",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch.distributed.fsdp.StateDictType; torch.distributed.checkpoint.state_dict",
      .message = "This type of state dict is not one that the version of FSDP has.",
      .explanation =
          "FSDP1 has full, local and sharded, set by a context; FSDP2's state dict is always sharded, and "
          "helpers make it full.",
      .fix = {.kind = FixKind::settings,
              .text = "name a type that the version has (checkpoint.type); with FSDP2 use "
                      "torch.distributed.checkpoint.state_dict"},
      .example = "AttributeError: 'FSDPModule' object has no attribute 'state_dict_type'",
      .signs =
          {
              {.pattern = "local_state_dict*FSDP2", .certainty = 85},
              {.pattern = "FSDP2*local_state_dict", .certainty = 85},
              {.pattern = "FSDP2 only supports*state_dict", .certainty = 92},
              {.pattern = "has no attribute 'state_dict_type'", .certainty = 85},
              {.pattern = "has no attribute 'set_state_dict_type'", .certainty = 85},
              {.pattern = "state_dict_type*FSDP2", .certainty = 75, .unless = {"are being deprecated"}},
              {.pattern = "statedicttype*not supported", .certainty = 80},
              {.pattern = "only supports*state_dict_type", .certainty = 80},
              {.pattern = "does not support*local_state_dict", .certainty = 85},
              {.pattern = "state_dict_type*with fsdp*not supported", .certainty = 75},
              {.pattern = "save_only_model*not compatible*sharded_state_dict", .certainty = 70},
              {.pattern = "sharded_state_dict*not compatible", .certainty = 78},
          },
  };
}

Rule eight_bit_state() {
  return {
      .id = "checkpoint/eight-bit-state",
      .codes = {"X-16"},
      .title = "a full optimizer state of an 8-bit optimizer",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/distributed/fsdp/_optim_utils.py; bitsandbytes",
      .message = "FSDP cannot collect the state of an 8-bit or paged optimizer.",
      .explanation =
          "Its states are bytes and blocks of scales, which FSDP takes for tensors of the parameter's shape: "
          "an assertion on types or shapes fails.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=sharded"},
              .text = "save sharded with FSDP2, or another optimizer"},
      .example =
          "File \"torch/distributed/fsdp/_optim_utils.py\", line 1321, in "
          "_convert_state_with_orig_params\nAssertionError",
      .signs =
          {
              {.pattern = "bitsandbytes*optim_state_dict", .certainty = 70},
              {.pattern = "expects*dtype*optim*", .certainty = 50, .frame = "_optim_utils"},
              {.pattern = "assertionerror", .certainty = 60, .frame = "_optim_utils", .whole_line = true},
              {.pattern = "assertionerror: expected dtype == info.dtype",
               .certainty = 70,
               .frame = "_optim_utils"},
              {.pattern = "output tensor must have the same type as input tensor",
               .certainty = 70,
               .frame = "_optim_utils"},
              {.pattern = "different dtype*optimizer state", .certainty = 75},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_state_dict_types_rules() {
  return {state_dict_of_version(), eight_bit_state()};
}

}  // namespace shardlab
