// Tensor-parallel groups.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule order() {
  return {
      .id = "mesh/order",
      .codes = {"B-21"},
      .title = "the order of a two-dimensional mesh is wrong",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch.distributed.tensor.parallel's documentation",
      .message = "Sharding was applied before tensor parallelism, or a tensor-parallel group spans nodes.",
      .explanation = "Tensor parallelism first, within the node; then sharding across.",
      .fix = {.kind = FixKind::code,
              .text = "parallelize_module first, then fully_shard; the tensor dimension innermost"},
      .example =
          "RuntimeError: FSDP requires the DP and TP mesh to have the same parent mesh but got: DP mesh "
          "(8,), TP mesh (2,)",
      .signs =
          {
              {.pattern = "invalid mesh_dim_names", .certainty = 72},
              {.pattern = "fsdp requires the dp and tp mesh to have the same parent mesh", .certainty = 94},
              {.pattern = "requires the dp and*tp mesh", .certainty = 92},
              {.pattern = "same parent mesh", .certainty = 85},
              {.pattern = "cannot concatenate*meshes", .certainty = 60},
              {.pattern = "tensor parallel*before*fsdp", .certainty = 75},
              {.pattern = "parallelize_module*after*fully_shard", .certainty = 80},
              {.pattern = "invalid mesh_dim_name", .certainty = 60},
          },
  };
}

Rule plan_with_holes() {
  return {
      .id = "mesh/plan-with-holes",
      .codes = {"S-02"},
      .title = "the tensor-parallel plan has holes",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source = "torch.distributed.tensor.parallel",
      .message = "Some projections of a block are parallel and their partners are not named.",
      .explanation =
          "A column-parallel projection leaves a part of the features on every rank; its row-parallel "
          "partner, and its siblings of the same input, must be in the plan.",
      .fix = {.kind = FixKind::code, .text = "name all projections of the block: q, k, v, o; gate, up, down"},
      .example =
          "RuntimeError: shape '[1, 128, 32, 128]' is invalid for input of size 262144, in a tensor-parallel "
          "model",
      .signs =
          {
              {.pattern = "currently only support nn.linear and nn.embedding", .certainty = 84},
              {.pattern = "is invalid for input of size", .certainty = 48},
              {.pattern = "tensor_parallel*plan*missing", .certainty = 80},
              {.pattern = "parallelize_plan*not found", .certainty = 75},
              {.pattern = "parallelize_plan*could not be resolved", .certainty = 88},
              {.pattern = "the following layers were not sharded", .certainty = 70, .most = Severity::info},
          },
  };
}

}  // namespace

std::vector<Rule> mesh_tensor_parallel_rules() {
  return {order(), plan_with_holes()};
}

}  // namespace shardlab
