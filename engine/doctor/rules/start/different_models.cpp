// Models that differ between ranks.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

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
              {.pattern = "should be materialized from meta device", .certainty = 88},
              {.pattern = "cannot copy out of meta tensor", .certainty = 78},
              {.pattern = "should be materialized on cpu when enabling cpu offloading", .certainty = 82},
              {.pattern = "an fsdp-managed module unexpectedly has parameters on", .certainty = 84},
              {.pattern = "inconsistent compute device and `device_id`", .certainty = 86},
              {.pattern = "DDP expects same model across all ranks", .certainty = 95},
              {.pattern = "expects same model across all ranks", .certainty = 95},
              {.pattern = "has*params, while rank*has inconsistent", .certainty = 94},
              {.pattern = "in this process with sizes*appears not to match*sizes of the same param",
               .certainty = 94},
              {.pattern = "appears not to match sizes of the same param in process", .certainty = 94},
              {.pattern = "appears not to match strides of the same param in process", .certainty = 94},
              {.pattern = "verifying params across processes", .certainty = 70},
              {.pattern = "sync_module_states=true*cpu", .certainty = 85},
              {.pattern = "requires gpu*sync_module_states", .certainty = 85},
              {.pattern = "sync_module_states", .certainty = 50},
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
