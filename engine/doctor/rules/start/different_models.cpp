// Models that differ between ranks.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_meta =
    "A part of the model is still on the meta device: it has shapes and no values.";
constexpr std::string_view k_meta_fix =
    "to_empty(device=...) and then an initialisation or a state dict, FSDP1's sync_module_states from rank "
    "0, or from_pretrained on every rank without .to() after it";
constexpr std::string_view k_elsewhere =
    "The model is on another device than the one that its rank computes on.";
constexpr std::string_view k_elsewhere_fix =
    "torch.cuda.set_device(LOCAL_RANK) before the model is made, the same device as device_id, and no move "
    "of the module after wrapping";

Rule different_models() {
  return {
      .id = "start/different-models",
      .codes = {"A-03"},
      .title = "ranks build different models",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::measurement, Need::log},
      .threshold = "parameter lists that differ in names or shapes; no rank reaches the first step",
      .source =
          "torch/distributed/utils.py (_verify_param_shape_across_processes); FSDP's sync_module_states",
      .message = "Ranks do not have the same parameters, or wait for a broadcast of them.",
      .explanation =
          "At wrapping, shapes are compared or weights broadcast from rank 0. Conditional layers, another "
          "file, or a model on rank 0 only differ; a model on the CPU needs a device for the broadcast.",
      .fix = {.kind = FixKind::code,
              .text = "build the same model on every rank, leave placement to the wrapper (device_id), and "
                      "load weights on rank 0 only together with sync_module_states"},
      .example =
          "RuntimeError: DDP expects same model across all ranks, but Rank 3 has 2247 params, while rank 0 "
          "has inconsistent 0 params.",
      .signs =
          {
              {.pattern = "should be materialized from meta device",
               .certainty = 88,
               .message = k_meta,
               .fix = k_meta_fix},
              {.pattern = "cannot copy out of meta tensor",
               .certainty = 78,
               .message = k_meta,
               .fix = k_meta_fix},
              {.pattern = "should be materialized on cpu when enabling cpu offloading",
               .certainty = 82,
               .message = "Parameters that are offloaded must lie in host memory before the first step.",
               .fix = "leave the model on the CPU, or to_empty(device=\"cpu\") and a state dict on the CPU"},
              {.pattern = "an fsdp-managed module unexpectedly has parameters on",
               .certainty = 84,
               .message = k_elsewhere,
               .fix = k_elsewhere_fix},
              {.pattern = "inconsistent compute device and `device_id`",
               .certainty = 86,
               .message = k_elsewhere,
               .fix = k_elsewhere_fix},
              {.pattern = "DDP expects same model across all ranks", .certainty = 95},
              {.pattern = "expects same model across all ranks", .certainty = 95},
              {.pattern = "has*params, while rank*has inconsistent", .certainty = 94},
              {.pattern = "in this process with sizes*appears not to match*sizes of the same param",
               .certainty = 94},
              {.pattern = "appears not to match sizes of the same param in process", .certainty = 94},
              {.pattern = "appears not to match strides of the same param in process", .certainty = 94},
              {.pattern = "verifying params across processes", .certainty = 70},
              {.pattern = "requires gpu*sync_module_states", .certainty = 85},
              {.pattern = "set the `sync_module_states` flag to `true`", .certainty = 84},
              {.pattern = "when using `--fsdp_cpu_ram_efficient_loading` set `--fsdp_sync_module_states`",
               .certainty = 84},
              {.pattern = "expects the `flatparameter` to be on cpu when parameter cpu offloading",
               .certainty = 84,
               .message = k_elsewhere,
               .fix = k_elsewhere_fix},
              {.pattern = "expected `flatparameter` to be on the compute device",
               .certainty = 84,
               .message = k_elsewhere,
               .fix = k_elsewhere_fix},
              {.pattern = "the module has cpu parameters*device_id", .certainty = 88},
              {.pattern = "module has cpu parameters or buffers when*sync_module_states", .certainty = 95},
              {.pattern = "param shapes differ*across ranks", .certainty = 88},
              {.pattern = "inconsistent*across ranks*param", .certainty = 70},
              {.pattern = "DDP expects*same*rank", .certainty = 80},
              {.pattern = "cannot*broadcast*meta", .certainty = 55},
          },
  };
}

}  // namespace

std::vector<Rule> start_different_models_rules() {
  return {different_models()};
}

}  // namespace shardlab
