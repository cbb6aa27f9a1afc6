// Shared memory of data workers.
#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// What a container has where nobody says otherwise.
constexpr Bytes k_of_containers = mebibytes(64);

std::vector<MachineRemark> room_remarks(const Case&, const MachineFacts& machine) {
  if (!machine.shared_memory || *machine.shared_memory > k_of_containers) return {};
  return {{fmt::format("/dev/shm has {}, a container's default: data workers hand their batches over through "
                       "it.",
                       to_string(*machine.shared_memory)),
           Severity::warning,
           {evidence_of_machine(machine, "/dev/shm", to_string(*machine.shared_memory))}}};
}

Rule workers_bus_error() {
  return {
      .id = "data/workers-bus-error",
      .codes = {"Y-06"},
      .title = "data workers die for want of shared memory",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .threshold = "size of /dev/shm below workers times prefetch times batch",
      .source = "torch/utils/data/dataloader.py; torch/multiprocessing",
      .message = "Data workers hand batches over through /dev/shm, which is full.",
      .explanation =
          "Workers times prefetched batches times their bytes lie there at once; a container's default is 64 "
          "MiB.",
      .fix = {.kind = FixKind::environment,
              .text = "a larger /dev/shm (--shm-size=8g or --ipc=host), or fewer workers and a smaller "
                      "prefetch factor"},
      .example = "RuntimeError: DataLoader worker (pid 11011) is killed by signal: Bus error.",
      .signs =
          {
              {.pattern = "terminated with signal sigbus", .certainty = 82},
              {.pattern = "dataloader worker*is killed by signal: bus error", .certainty = 95},
              {.pattern = "dataloader's workers are out of shared memory", .certainty = 95},
              {.pattern = "unexpected bus error encountered in worker", .certainty = 95},
              {.pattern = "insufficient shared memory (shm)", .certainty = 95},
              {.pattern = "might be caused by insufficient shared memory", .certainty = 95},
              {.pattern = "unable to write to file </torch_", .certainty = 92},
              {.pattern = "unable to allocate shared memory(shm) for file </torch_", .certainty = 92},
              {.pattern = "unable to open shared memory object </torch_",
               .certainty = 80,
               .unless = {"too many open files"}},
              {.pattern = "bus error (core dumped)", .certainty = 75},
              {.pattern = "srun: error: *task*: bus error", .certainty = 72},
              {.pattern = "unable to mmap*from file </torch_*", .certainty = 80},
              {.pattern = "no space left on device",
               .certainty = 92,
               .frame = "multiprocessing/synchronize.py",
               .message = "A lock between processes lies in /dev/shm, which is full or has no more entries.",
               .fix = "remove what ended programs left in /dev/shm; a larger one (--shm-size=8g or "
                      "--ipc=host)"},
              {.pattern = "error executing torch_shm_manager", .certainty = 65},
              {.pattern = "no response from torch_shm_manager", .certainty = 65},
              {.pattern = "torch_shm_manager*could not", .certainty = 65},
              {.pattern = "died with <signals.sigbus", .certainty = 82},
              {.pattern = "signal 7 (sigbus)", .certainty = 82},
              {.pattern = "exitcode*: -7", .certainty = 78},
              {.pattern = "exits with return code = -7", .certainty = 78},
              {.pattern = "exit code -7", .certainty = 70},
              {.pattern = "exit code 135", .certainty = 70},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<room_remarks>}},
  };
}

}  // namespace

std::vector<Rule> data_workers_bus_error_rules() {
  return {workers_bus_error()};
}

}  // namespace shardlab
