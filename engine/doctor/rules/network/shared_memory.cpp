// Shared memory of a node.
#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr Bytes k_for_nccl = mebibytes(1024);

std::vector<MachineRemark> shared_memory_remarks(const Case&, const MachineFacts& machine) {
  if (machine.gpus.size() < 2 || !machine.shared_memory || *machine.shared_memory >= k_for_nccl) return {};
  return {{fmt::format("/dev/shm has {} on a node of {} GPUs, whose processes exchange data through it.",
                       to_string(*machine.shared_memory), machine.gpus.size()),
           Severity::warning,
           {evidence_of_machine(machine, "/dev/shm", to_string(*machine.shared_memory))}}};
}

Rule no_shared_memory() {
  return {
      .id = "network/no-shared-memory",
      .codes = {"Y-05"},
      .title = "NCCL cannot make its shared memory",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .threshold =
          "size of /dev/shm below what NCCL asks for; before the job: below 1 GiB on a node with several "
          "GPUs",
      .source = "NCCL's transport/shm.cc and include/shm.h",
      .message = "/dev/shm is too small for NCCL: processes of a node exchange data through it.",
      .explanation =
          "It needs channels times peers times buffer, tens of MiB a pair; a container's default is 64 MiB "
          "in all.",
      .fix = {.kind = FixKind::environment,
              .text = "start the container with --shm-size=8g or --ipc=host (Kubernetes: an emptyDir of "
                      "medium Memory at /dev/shm)"},
      .example = "include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
      .signs =
          {
              {.pattern = "error while creating shared memory segment", .certainty = 94},
              {.pattern = "posix_fallocate failed", .certainty = 90},
              {.pattern = "error: failed to extend*/dev/shm", .certainty = 94},
              {.pattern = "failed to extend /dev/shm", .certainty = 94},
              {.pattern = "nccl*shared memory segment", .certainty = 85},
              {.pattern = "nccl warn*/dev/shm", .certainty = 90},
              {.pattern = "nccl-shm*no space left", .certainty = 92},
              {.pattern = "error while attaching to shared memory segment", .certainty = 90},
              {.pattern = "/dev/shm/nccl", .certainty = 80},
              {.pattern = "nccl*shm*no space left on device", .certainty = 93},
              {.pattern = "shmopen*failed", .certainty = 85},
              {.pattern = "nccl warn*ftruncate", .certainty = 80},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<shared_memory_remarks>}},
  };
}

}  // namespace

std::vector<Rule> network_shared_memory_rules() {
  return {no_shared_memory()};
}

}  // namespace shardlab
