// The end of a job.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule group_not_destroyed() {
  return {
      .id = "collectives/group-not-destroyed",
      .codes = {"S-01"},
      .title = "the process group was not destroyed",
      .severity = Severity::info,
      .needs = {Need::log},
      .source = "torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, destructor (2.4)",
      .message =
          "The program ended without destroying its process group: harmless after the last step, a hang "
          "where one rank leaves earlier than the others.",
      .explanation =
          "At exit pending operations may still be in flight, and the destructor of a process group can wait "
          "for peers that have gone. PyTorch warns about it since 2.4.",
      .fix = {.kind = FixKind::code,
              .text = "call torch.distributed.destroy_process_group() at the end of every rank"},
      .example =
          "[rank0]:[W ProcessGroupNCCL.cpp:1374] Warning: WARNING: process group has NOT been destroyed "
          "before we destruct ProcessGroupNCCL.",
      .signs =
          {
              {.pattern = "process group has not been destroyed before", .certainty = 90},
              {.pattern = "destroy_process_group() was not called before program exit", .certainty = 90},
              {.pattern = "destroy_process_group() was not called", .certainty = 80},
          },
  };
}

}  // namespace

std::vector<Rule> collectives_end_of_job_rules() {
  return {group_not_destroyed()};
}

}  // namespace shardlab
