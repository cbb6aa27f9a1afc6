// What a pickled checkpoint holds besides numbers.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule device() {
  return {
      .id = "checkpoint/device",
      .codes = {"C-31"},
      .title = "a checkpoint was saved on a device that is not here",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/serialization.py (validate_cuda_device)",
      .message = "Tensors of the checkpoint belong to a device that this process does not have.",
      .explanation = "torch.load puts tensors where they were saved, unless it is told another place.",
      .fix = {.kind = FixKind::code, .text = "torch.load(file, map_location=\"cpu\"), then move"},
      .example =
          "RuntimeError: Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is "
          "1.",
      .signs =
          {
              {.pattern = "attempting to deserialize object on", .certainty = 95},
              {.pattern = "attempting to deserialize*cuda device", .certainty = 95},
              {.pattern = "use torch.load with map_location", .certainty = 85},
          },
  };
}

Rule weights_only() {
  return {
      .id = "checkpoint/weights-only",
      .codes = {"C-32"},
      .title = "the checkpoint holds more than tensors",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/serialization.py, torch/_weights_only_unpickler.py",
      .message = "torch.load refuses objects of the checkpoint (weights_only, the default since 2.6).",
      .explanation =
          "A pickle can run any code. Old checkpoints hold arguments, scalers or numpy values beside "
          "tensors.",
      .fix = {.kind = FixKind::code,
              .text = "if the file is trusted, load it once with weights_only=False (or allow its classes by "
                      "torch.serialization.add_safe_globals), and save tensors only"},
      .example =
          "_pickle.UnpicklingError: Weights only load failed. WeightsUnpickler error: Unsupported global",
      .signs =
          {
              {.pattern = "weights only load failed", .certainty = 95},
              {.pattern = "weightsunpickler error", .certainty = 94},
              {.pattern = "unsupported global: global", .certainty = 90},
              {.pattern = "weights_only*unpickl", .certainty = 80},
              {.pattern = "types accepted by default with weights_only", .certainty = 80},
              {.pattern = "upgrade torch to at least v2.6*torch.load", .certainty = 80},
              {.pattern = "vulnerability issue in `torch.load`", .certainty = 80},
              {.pattern = "with `weights_only=false`*safe", .certainty = 50, .most = Severity::info},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_objects_and_devices_rules() {
  return {device(), weights_only()};
}

}  // namespace shardlab
