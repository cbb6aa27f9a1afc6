// Operations without a rule for sharded parameters.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule unsupported_operation() {
  return {
      .id = "wrap/unsupported-operation",
      .codes = {"E-25"},
      .title = "an operation does not work on distributed parameters",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "torch/distributed/tensor; deepspeed/runtime/zero",
      .message = "An operator or a module does not support parameters that are sharded.",
      .explanation =
          "Sharded parameters are flat, empty or distributed tensors outside their unit's forward; operators "
          "without a rule for them, in-place initialisation or custom kernels fail.",
      .fix = {.kind = FixKind::settings,
              .text = "keep the module out of units (parallel.wrap.ignored), or its parameters off ZeRO-3"},
      .example =
          "NotImplementedError: Operator aten.unique_dim.default does not have a sharding strategy "
          "registered.",
      .signs =
          {
              {.pattern = "to a 1d tensor with numel equal to 1",
               .certainty = 90,
               .message = "FSDP shards along a dimension, and a parameter is a scalar that has none.",
               .fix = "make it a tensor of one element: torch.nn.Parameter(torch.ones(1))"},
              {.pattern = "is already sharded on mesh dim",
               .certainty = 86,
               .message = "An initialisation or operator does not know a dimension that two meshes shard "
                          "(hybrid and tensor parallel).",
               .fix = "initialise before sharding, or on the local tensors"},
              {.pattern = "attempted to flatten sharded dimension",
               .certainty = 88,
               .message = "A view or reshape merges a dimension that is sharded with another.",
               .fix = "reshape so that the sharded dimension stays outermost, or redistribute (or "
                      "to_local()) before the view"},
              {.pattern = "attempted to flatten an unevenly sharded dimension", .certainty = 88},
              {.pattern = "does not support non-contiguous parameters", .certainty = 88},
              {.pattern = "does not support uneven sharding on dim", .certainty = 90},
              {.pattern = "requires even sharding", .certainty = 84},
              {.pattern = "does not support containers that do not implement forward",
               .certainty = 90,
               .message = "fully_shard was given a list of modules, which has no forward of its own.",
               .fix = "shard the modules in it, each by itself"},
              {.pattern = "fsdp only supports 1d tp", .certainty = 88},
              {.pattern = "resharding to smaller mesh with tp is not supported", .certainty = 90},
              {.pattern = "is invalid for input of size",
               .certainty = 78,
               .frame = "distributed/tensor/_dispatch",
               .message = "An operator was given the shape of the whole tensor and ran on a shard of it.",
               .fix = "call to_local() or full_tensor() before the operator, or give it a module with a plan "
                      "of its own"},
              {.pattern = "does not have a sharding strategy registered", .certainty = 93},
              {.pattern = "operator*does not have a*sharding strategy", .certainty = 92},
              {.pattern = "sharding propagation failed", .certainty = 82},
              {.pattern = "sharding*failed*for op", .certainty = 70},
              {.pattern = "not supported*dtensor", .certainty = 60},
              {.pattern = "dtensor*not implemented", .certainty = 65},
              {.pattern = "not supported*with zero-3", .certainty = 70},
              {.pattern = "not supported*zero stage 3", .certainty = 70},
              {.pattern = "not compatible with*ZeRO3", .certainty = 65},
              {.pattern = "not compatible with*zero stage 3", .certainty = 65},
              {.pattern = "incompatible with*zero*stage", .certainty = 55},
              {.pattern = "in-place operations*dtensor*not supported", .certainty = 80},
              {.pattern = "could not run*with arguments from the*backend", .certainty = 62},
          },
  };
}

}  // namespace

std::vector<Rule> wrap_unsupported_operation_rules() {
  return {unsupported_operation()};
}

}  // namespace shardlab
