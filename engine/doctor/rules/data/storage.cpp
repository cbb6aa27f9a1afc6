// Files and the system that holds them.
#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::int64_t k_few_files =
    4096;  // ranks, workers and channels of a node of eight GPUs come near it

std::vector<MachineRemark> open_files_remarks(const Case&, const MachineFacts& machine) {
  if (!machine.open_files || *machine.open_files >= k_few_files) return {};
  return {{fmt::format("A process of {} may open {} files.", name_of(machine), *machine.open_files),
           Severity::info,
           {evidence_of_machine(machine, "limits", fmt::format("Max open files {}", *machine.open_files))}}};
}

Rule slow_storage() {
  return {
      .id = "data/slow-storage",
      .codes = {"C-19"},
      .title = "storage is slow",
      .severity = Severity::warning,
      .needs = {Need::measurement, Need::log},
      .threshold = "read bandwidth at the limit of the mount",
      .source = "the kernel; file systems of clusters",
      .message = "Reading is limited by the mount, or the mount fails.",
      .explanation = "Network file systems stall under many small reads.",
      .fix = {.kind = FixKind::settings,
              .text = "copy the data to a local disk or memory file system and name it in train.data"},
      .example = "nfs: server storage1 not responding, still trying",
      .signs =
          {
              {.pattern = "nfs: server*not responding", .certainty = 90},
              {.pattern = "stale file handle", .certainty = 85},
              {.pattern = "lustre*timed out", .certainty = 80},
              {.pattern = "blocked for more than*seconds", .certainty = 66},
              {.pattern = "oserror: [errno 5] input/output error", .certainty = 84},
              {.pattern = "[errno 5] input/output error", .certainty = 82},
              {.pattern = "input/output error", .certainty = 60},
              {.pattern = "remote i/o error", .certainty = 84},
              {.pattern = "transport endpoint is not connected", .certainty = 80},
          },
  };
}

Rule too_many_open_files() {
  return {
      .id = "data/too-many-open-files",
      .codes = {"Y-07"},
      .title = "too many open files",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .threshold = "ulimit -n below workers times ranks times channels",
      .source = "torch.multiprocessing's sharing strategies; getrlimit",
      .message = "A process reached its limit of open files.",
      .explanation =
          "Workers share tensors through file descriptors, one each; ranks and channels add sockets.",
      .fix = {.kind = FixKind::command,
              .text = "ulimit -n 65536 before the job, or "
                      "torch.multiprocessing.set_sharing_strategy(\"file_system\")"},
      .example = "OSError: [Errno 24] Too many open files",
      .signs =
          {
              {.pattern = "too many open files", .certainty = 94},
              {.pattern = "errno 24", .certainty = 88},
              {.pattern = "received 0 items of ancdata", .certainty = 94},
              {.pattern = "emfile", .certainty = 85},
              {.pattern = "too many open files in system", .certainty = 94},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<open_files_remarks>}},
  };
}

}  // namespace

std::vector<Rule> data_storage_rules() {
  return {slow_storage(), too_many_open_files()};
}

}  // namespace shardlab
