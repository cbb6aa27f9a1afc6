// Checkpoints of another number of ranks.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule other_world_size() {
  return {
      .id = "checkpoint/other-world-size",
      .codes = {"E-20"},
      .title = "the checkpoint is of another model or number of ranks",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source =
          "deepspeed/runtime/zero/stage_1_and_2.py (load_state_dict), "
          "deepspeed/checkpoint/ds_to_universal.py",
      .message = "The checkpoint was written by another number of ranks, or for another model.",
      .explanation =
          "DeepSpeed partitions optimizer states by rank; its universal format does not depend on their "
          "number.",
      .fix = {.kind = FixKind::command,
              .text = "convert it once (python -m deepspeed.checkpoint.ds_to_universal), then load it as "
                      "universal; or start with the number of ranks that wrote it"},
      .example =
          "deepspeed.runtime.zero.utils.ZeRORuntimeException: The checkpoint being loaded used a DP world "
          "size of 4 but the current world size is 6.",
      .signs =
          {
              {.pattern = "is different from saved mp_world_size", .certainty = 90},
              {.pattern = "invalid checkpoints and world size for sd", .certainty = 88},
              {.pattern = "loaded state dict contains a parameter group that doesn't match the size of "
                          "optimizer's group",
               .certainty = 66},
              {.pattern = "loaded state dict has a different number of parameter groups", .certainty = 66},
              {.pattern = "could not find shard at*for fqn", .certainty = 80},
              {.pattern = "target tensor size*does not match source tensor size", .certainty = 84},
              {.pattern = "tensor optimizer state does not have same shape as its parameter",
               .certainty = 76},
              {.pattern = "size mismatch between saved torch.size", .certainty = 88},
              {.pattern = "checkpoint being loaded used a dp world size of", .certainty = 95},
              {.pattern = "automatic adjustment of zero's optimizer state partitioning", .certainty = 94},
              {.pattern = "zeroruntimeexception*world size", .certainty = 92},
              {.pattern = "checkpoint*world size*but*current world size", .certainty = 90},
              {.pattern = "saved*with*world size*current", .certainty = 75},
              {.pattern = "loading a checkpoint for mp=*but world size is",
               .certainty = 90,
               .message = "The checkpoint is cut for another number of ranks than was started.",
               .fix = "start as many ranks as the checkpoint has parts, or convert it"},
              {.pattern = "expected world size*checkpoint", .certainty = 80},
              {.pattern = "universal checkpoint",
               .certainty = 45,
               .unless = {"to universal checkpoint", "to a universal checkpoint",
                          "deprecated and no longer"}},
              {.pattern = "size mismatch for*copying a param with shape",
               .certainty = 76,
               .unless = {"torch.size([0])"}},
              {.pattern = "size mismatch*checkpoint*model", .certainty = 60, .unless = {"torch.size([0])"}},
              {.pattern = "doesn't match the mp world size", .certainty = 85},
              {.pattern = "mp_world_size*mismatch", .certainty = 80},
              {.pattern = "rng_state_*no such file", .certainty = 50},
              {.pattern = "assert len(self.ckpt_list) > 0", .certainty = 70},
              {.pattern = "checkpoint*tensor parallel*mismatch", .certainty = 70},
              {.pattern = "size mismatch between saved*and current", .certainty = 88},
          },
  };
}

Rule sharded_metadata() {
  return {
      .id = "checkpoint/sharded-metadata",
      .codes = {"A-11"},
      .title = "a sharded checkpoint is read without its reader",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .threshold =
          "world size of the checkpoint other than the job's, and a format that is read rank by rank",
      .source = "torch/distributed/checkpoint; torch/distributed/_shard/sharded_tensor",
      .message = "A sharded checkpoint does not fit this number of ranks as it is read.",
      .explanation =
          "Sharded checkpoints load at any world size through the distributed checkpoint reader alone; a "
          "local state dict fits the same world only.",
      .fix = {.kind = FixKind::settings,
              .set = {"checkpoint.type=full"},
              .text = "save full, or load with torch.distributed.checkpoint"},
      .example = "RuntimeError: ShardedTensor metadata mismatch",
      .signs =
          {
              {.pattern = "shardedtensor metadata", .certainty = 93},
              {.pattern = "shardedtensor*metadata*mismatch", .certainty = 94},
              {.pattern = "shardedtensor*mismatch", .certainty = 90},
              {.pattern = "local shards*metadata*do not match", .certainty = 90},
              {.pattern = "local_shards*", .certainty = 50},
              {.pattern = "shard metadata*world_size", .certainty = 80},
              {.pattern = "local_state_dict*world size", .certainty = 80},
              {.pattern = "localstatedict*", .certainty = 40},
              {.pattern = "shards*overlap", .certainty = 60},
              {.pattern = "sharded tensor*world size", .certainty = 80},
              {.pattern = "rank*outside of*shardedtensor", .certainty = 70},
              {.pattern = "placement*rank*shardedtensor", .certainty = 60},
              {.pattern = "failed to validate global plan", .certainty = 80},
              {.pattern = "chunks*do not cover", .certainty = 75},
          },
  };
}

}  // namespace

std::vector<Rule> checkpoint_world_size_rules() {
  return {other_world_size(), sharded_metadata()};
}

}  // namespace shardlab
