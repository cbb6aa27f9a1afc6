// Settings that a framework checks before it starts.
#include <utility>

#include "engine/doctor/rules/configuration/refusals.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_trainer =
    "Trainer refuses its arguments: they contradict each other, or a value is none that it takes. The "
    "message says which.";
constexpr std::string_view k_accelerate =
    "accelerate refuses its settings: they contradict each other, or a value is none that it takes. The "
    "message says which.";
constexpr std::string_view k_deepspeed =
    "DeepSpeed refuses its settings: they contradict each other, or this version has no such combination. "
    "The message says which.";
constexpr std::string_view k_fsdp =
    "FSDP refuses the module or the arguments that it was given. The message says which.";
constexpr std::string_view k_fsdp_fix =
    "change the argument that the message names; a module is wrapped once, on one device, from the inside to "
    "the outside";

Rule refused() {
  return {
      .id = "configuration/refused",
      .codes = {"Y-19"},
      .title = "a framework refuses its settings",
      .severity = Severity::error,
      .needs = {Need::files, Need::log},
      .source =
          "transformers/training_args.py, accelerate/utils/dataclasses.py, "
          "deepspeed/runtime/{config,engine}.py, "
          "torch/distributed/fsdp/_init_utils.py: the functions that check",
      .message = "A framework refuses its settings before it starts. The message says which.",
      .explanation =
          "The exception comes from a function that only checks what it is given, so that the settings are "
          "the "
          "cause, not the model, the data or the cluster.",
      .fix = {.kind = FixKind::settings,
              .text = "change the setting that the message names; a file written for the version (shardlab "
                      "export) has no "
                      "combinations that it refuses"},
      .example = "ValueError: At most one of fp16 and bf16 can be True, but not both",
      .signs =
          {
              {.pattern = "at most one of fp16 and bf16 can be true", .certainty = 88, .message = k_trainer},
              {.pattern = "valueerror: ",
               .certainty = 62,
               .frame = "training_args.py*in __post_init__",
               .message = k_trainer},
              {.pattern = "valueerror: ",
               .certainty = 62,
               .frame = "training_args.py*in _validate",
               .message = k_trainer},
              {.pattern = "valueerror: ",
               .certainty = 62,
               .frame = "training_args.py*fsdp",
               .message = k_trainer},
              {.pattern = "valueerror: ",
               .certainty = 58,
               .frame = "transformers/trainer.py*in __init__",
               .message = k_trainer},
              {.pattern = "valueerror: ",
               .certainty = 62,
               .frame = "accelerate/utils/dataclasses.py*in __post_init__",
               .message = k_accelerate},
              {.pattern = "valueerror: ",
               .certainty = 60,
               .frame = "accelerate/commands/launch.py*in _validate",
               .message = k_accelerate},
              {.pattern = "valueerror: ",
               .certainty = 60,
               .frame = "accelerate/parallelism_config.py",
               .message = k_accelerate},
              {.pattern = "assertionerror: ",
               .certainty = 62,
               .frame = "deepspeed/runtime/config.py",
               .message = k_deepspeed},
              {.pattern = "deepspeedconfigerror", .certainty = 66, .message = k_deepspeed},
              {.pattern = "group is already initialized",
               .certainty = 76,
               .message = "A second engine or mesh was made in a process that has one: groups of ZeRO++, "
                          "MiCS and of "
                          "meshes exist once.",
               .fix = "one deepspeed.initialize with such groups in a process, or the same settings without "
                      "zero_hpz_partition_size for the others"},
              {.pattern = "indexerror: list index out of range",
               .certainty = 70,
               .frame = "torch/distributed/device_mesh.py",
               .message = "The mesh has fewer dimensions than it is asked for: its sizes do not multiply to "
                          "the number "
                          "of ranks, or a size of 1 was left out.",
               .fix = "sizes whose product is the number of ranks that were started"},
              {.pattern = "mesh should not be bigger than default world size", .certainty = 86},
              {.pattern = "to not be fullyshardeddataparallel",
               .certainty = 86,
               .message = k_fsdp,
               .fix = k_fsdp_fix},
              {.pattern = "object has no attribute 'fsdp_plugin'",
               .certainty = 80,
               .message = "The program asks for FSDP and accelerate was started without it: an Accelerator "
                          "or a state "
                          "existed before.",
               .fix = "start with accelerate launch and a configuration of FSDP, and make no Accelerator "
                      "earlier in "
                      "the process"},
              {.pattern = "assertionerror: ",
               .certainty = 62,
               .frame = "deepspeed/runtime/engine.py*sanity_check",
               .message = k_deepspeed},
              {.pattern = "assertionerror: ",
               .certainty = 60,
               .frame = "deepspeed/runtime/engine.py*in _validate",
               .message = k_deepspeed},
              {.pattern = "is not compatible with `low_cpu_mem_usage=true` or with passing a `device_map`",
               .certainty = 88,
               .message =
                   "ZeRO-3 places the parameters itself: a device_map or low_cpu_mem_usage contradicts it.",
               .fix = "leave device_map and low_cpu_mem_usage out of from_pretrained"},
              {.pattern = "valueerror: ",
               .certainty = 60,
               .frame = "torch/distributed/fsdp/_init_utils.py",
               .message = k_fsdp,
               .fix = k_fsdp_fix},
              {.pattern = "runtimeerror: ",
               .certainty = 58,
               .frame = "torch/distributed/fsdp/_init_utils.py",
               .message = k_fsdp,
               .fix = k_fsdp_fix},
              {.pattern = "requires modules to not already have fsdp applied",
               .certainty = 88,
               .message = k_fsdp,
               .fix = k_fsdp_fix},
              {.pattern = "error: the following arguments are required",
               .certainty = 70,
               .message = "The program was started without an argument that it needs.",
               .fix = "add the arguments that the message names to the launch command"},
          },
      .faults = {{.code = ErrorCode::none, .tool = "deepspeed"},
                 {.code = ErrorCode::none, .tool = "transformers"}},
  };
}

}  // namespace

std::vector<Rule> configuration_refused_settings_rules() {
  Rule rule = refused();
  for (const auto signs : {refusals_of_fsdp, refusals_of_accelerate, refusals_of_trainer,
                           refusals_of_deepspeed, refusals_of_megatron}) {
    for (LogSign& sign : signs()) rule.signs.push_back(std::move(sign));
  }
  return {std::move(rule)};
}

}  // namespace shardlab
