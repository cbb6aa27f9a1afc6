// Modules and calls outside every unit.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

LogSign of_other_order(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 84,
          .message =
              "FSDP's hooks ran in an order that it does not know: backward of a unit whose forward was not "
              "the last thing that it did.",
          .fix =
              "one backward for each forward, through the wrapped root; a loss that every output of a unit "
              "reaches; no inference_mode before training; checkpointing without reentry "
              "(use_reentrant=False)"};
}

Rule plain_meets_distributed() {
  return {
      .id = "wrap/plain-meets-distributed",
      .codes = {"Y-15"},
      .title = "a plain tensor meets a distributed one",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch/distributed/tensor/_dispatch.py",
      .message = "An operation got a plain tensor and a distributed tensor.",
      .explanation =
          "A module outside every unit, a call of an inner module past the wrapped root (whose hooks gather "
          "parameters), or a hole in the tensor-parallel plan leaves one operand plain.",
      .fix = {.kind = FixKind::code,
              .text = "wrap the root last and call it, not its parts; complete the tensor-parallel plan"},
      .example =
          "RuntimeError: aten.mm.default: got mixed torch.Tensor and DTensor, need to convert all "
          "torch.Tensor to DTensor before calling distributed operators!",
      .signs =
          {
              {.pattern = "expects a fully sharded module but got", .certainty = 82},
              {.pattern = "requires a single root module but got", .certainty = 84},
              {.pattern = "no fsdp state found on", .certainty = 78},
              {.pattern = "cannot writeback when the*shape changes",
               .certainty = 86,
               .message = "A parameter of a wrapped module was replaced by one of another shape.",
               .fix = "resize and tie before wrapping, or inside FSDP.summon_full_params"},
              {.pattern = "does not support changing the parameters between forward and backward",
               .certainty = 88,
               .message = "A parameter of a wrapped module was replaced between forward and backward.",
               .fix = "change parameters after the step, inside FSDP.summon_full_params"},
              {.pattern = "this can happen if the model is not the root module",
               .certainty = 84,
               .message = "A state dict was asked of a module that is not the wrapped root.",
               .fix = "take it from the root module"},
              {.pattern = "has a non-zero number of elements, but its data is not allocated yet",
               .certainty = 84,
               .message =
                   "A parameter was used while its unit had it released: the call went past the hooks of the "
                   "wrapper (generate, a submodule's method, evaluation of an unwrapped model).",
               .fix =
                   "call the wrapped module, or summon the parameters around it (FSDP.summon_full_params)"},
              {.pattern = "access the data pointer on an invalid python storage",
               .certainty = 80,
               .message = "A tensor was read or saved whose unit had it released.",
               .fix = "take the state dict from the wrapper's own helpers, not from its tensors"},
              {.pattern = "cannot access data pointer of*storage that is invalid", .certainty = 74},
              {.pattern = "across different mesh", .certainty = 78},
              {.pattern = "must have the same mesh", .certainty = 76},
              {.pattern = "operands*different device mesh", .certainty = 78},
              {.pattern = "setstorage*out of bounds for storage of size 0", .certainty = 80},
              {.pattern = "assertionerror", .certainty = 80, .frame = "has_full_params"},
              {.pattern = "got mixed torch.tensor and dtensor", .certainty = 95},
              {.pattern = "mixed*tensor and dtensor", .certainty = 90},
              {.pattern = "convert all torch.tensor to dtensor", .certainty = 93},
              {.pattern = "dtensor*torch.tensor*before calling distributed operators", .certainty = 93},
              {.pattern = "all operands*must be dtensor", .certainty = 80},
              {.pattern = "found non-dtensor", .certainty = 70},
              {.pattern = "expects*dtensor*but got*torch.tensor", .certainty = 75},
              {.pattern = "input tensor*has to be a dtensor", .certainty = 75},
              {.pattern = "'weight' must be 2-d", .certainty = 70, .frame = "fsdp"},
              {.pattern = "forward pass should be*through the root*fsdp", .certainty = 80},
              {.pattern = "non-root fsdp instance's _is_root should not have been set", .certainty = 88},
              {.pattern = "non-root fsdp instance's", .certainty = 82},
              of_other_order("expected to be in states*but current state is"),
              of_other_order("expects*state but got handletrainingstate"),
              {.pattern = "expects flatparameter*gradient*device", .certainty = 40},
              {.pattern = "fsdp state has already been lazily initialized", .certainty = 86},
              {.pattern = "fsdp state has not been initialized", .certainty = 70},
              {.pattern = "expects root module", .certainty = 60, .frame = "fsdp"},
              {.pattern = "cannot access an fsdp parameter outside", .certainty = 60},
              {.pattern = "device_mesh*different device mesh", .certainty = 45},
              {.pattern = "cannot resize*fsdp", .certainty = 30},
          },
  };
}

}  // namespace

std::vector<Rule> wrap_outside_units_rules() {
  return {plain_meets_distributed()};
}

}  // namespace shardlab
