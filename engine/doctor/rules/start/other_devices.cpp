// Tensors and modules that are not where the operation runs.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_no_values =
    "A weight is still on the meta device: it was never given its values, or its module was left out of "
    "loading.";
constexpr std::string_view k_give_values =
    "to_empty() and reset_parameters() for every module, or load all weights, before the first forward";
constexpr std::string_view k_several_devices =
    "One model lies on several devices, and every rank needs it on its own.";
constexpr std::string_view k_one_device =
    "no device_map=\"auto\" where ranks share the work: device_map={\"\": local_rank}, or none at all";
constexpr std::string_view k_moved_by_hand =
    "The module was moved to a device by hand, and the wrapper offloads it to the CPU.";
constexpr std::string_view k_optimizer_first =
    "make the optimizer after the model was moved and wrapped, of its parameters as they are then";

LogSign of_weight_elsewhere(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 86,
          .message = "The input is on one device and the weight on another.",
          .fix = "move the whole model before it is wrapped, and each batch to the rank's device"};
}

Rule other_devices() {
  return {
      .id = "start/other-devices",
      .codes = {"Y-20"},
      .title = "tensors of one operation are on different devices",
      .severity = Severity::error,
      .needs = {Need::log},
      .source =
          "aten/src/ATen/TensorIterator.cpp, c10/core/DeviceGuard; torch/nn/parallel/distributed.py; "
          "accelerate/accelerator.py",
      .message =
          "An operation got tensors of different devices: a part of the model, or its input, was left "
          "elsewhere.",
      .explanation =
          "A wrapper moves the parameters that it manages and nothing else. What is outside of it stays "
          "where "
          "it was made: a frozen reference model, an adapter or a tied head, buffers, a batch, a module that "
          "offload left on the CPU; and a parameter that is read outside its module's forward is where "
          "offload "
          "keeps it.",
      .fix =
          {.kind = FixKind::code,
           .text =
               "the traceback ends at the module: move it and its inputs to the device of the rank, wrap or "
               "prepare a second model like the first, and call the wrapped module, not its parts"},
      .example =
          "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, "
          "cpu and cuda:0!",
      .signs =
          {
              {.pattern = "expected all tensors to be on the same device*meta",
               .certainty = 95,
               .message = k_no_values,
               .fix = k_give_values},
              {.pattern = "expected all tensors to be on the same device", .certainty = 92},
              {.pattern = "but found at least two devices", .certainty = 90},
              {.pattern = "valueerror: expected a*device, but got: cpu", .certainty = 84},
              {.pattern = "expected object of device type*but got device type", .certainty = 88},
              {.pattern = "expected object of backend*but got backend", .certainty = 86},
              {.pattern = "indices must be on the current device", .certainty = 84},
              {.pattern = "indices should be either on cpu or on the same device", .certainty = 88},
              {.pattern = "tensors are not at the same device", .certainty = 86},
              {.pattern = "is on cpu, but expected*to be on gpu", .certainty = 84},
              {.pattern = "expected*to be on the same device", .certainty = 78},
              {.pattern = "runtimeerror: expected input to be on", .certainty = 76},
              of_weight_elsewhere("input type (torch.cuda.*) and weight type (torch.floattensor)"),
              of_weight_elsewhere("input type (torch.cuda.*) and weight type (torch.halftensor)"),
              of_weight_elsewhere("input type (torch.floattensor) and weight type (torch.cuda."),
              {.pattern = "pointer argument*cannot be accessed from triton (cpu tensor", .certainty = 82},
              {.pattern = "model and the optimizer parameters are not on the same device",
               .certainty = 88,
               .fix = k_optimizer_first},
              {.pattern = "calculated loss must be on the original device", .certainty = 84},
              {.pattern = "must flatten tensors on the same device", .certainty = 90},
              {.pattern = "fsdp only supports single device modules",
               .certainty = 90,
               .message = k_several_devices,
               .fix = k_one_device},
              {.pattern = "to support a module with both cpu and gpu params", .certainty = 88},
              {.pattern = "does not support modules with different device types", .certainty = 88},
              {.pattern = "fsdp-managed module with parameter cpu offloading enabled has parameters on",
               .certainty = 92,
               .message = k_moved_by_hand,
               .fix = "leave the model on the CPU and the moving to the wrapper"},
              {.pattern = "expects the parameter to already be moved to device", .certainty = 86},
              {.pattern = "arguments only work with single-device/multiple-device gpu modules",
               .certainty = 92,
               .message = k_several_devices,
               .fix = k_one_device},
              {.pattern = "module must be on the same type of devices", .certainty = 90},
              {.pattern = "module must have its parameters and buffers on device", .certainty = 88},
              {.pattern = "a model that has been loaded with `device_map='auto'` in any distributed mode",
               .certainty = 92,
               .message = k_several_devices,
               .fix = k_one_device},
              {.pattern = "a model that has been loaded in*precision on*device",
               .certainty = 88,
               .message = k_several_devices,
               .fix = k_one_device},
              {.pattern = "a model that has been loaded in*with cpu or disk offload", .certainty = 86},
          },
  };
}

}  // namespace

std::vector<Rule> start_other_devices_rules() {
  return {other_devices()};
}

}  // namespace shardlab
