// Memory of the host.
#include <fmt/format.h>

#include "engine/doctor/job/job_evidence.h"
#include "engine/doctor/job/job_facts.h"
#include "engine/doctor/job/phases.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_killed =
    "A process was killed from outside (signal 9) without a traceback: nearly always the kernel, because "
    "memory of the host is exhausted.";

std::vector<Finding> check_host_phases(const Rule& rule, const Case& facts) {
  const auto phase = exceeding_phase(facts);
  if (!phase || !phase->on_host || steps_exceed_host(facts)) return {};
  Finding finding = finding_of(rule);
  finding.goal = Goal::fit;
  finding.certainty = 95;
  finding.remedies = {{RemedyStep::limits,
                       {{"parallel.initialization=meta"},
                        {"parallel.initialization=rank0_broadcast"},
                        {"checkpoint.type=sharded"}}}};
  finding.message = fmt::format("Host memory does not suffice: {} takes {} of a node's {}.",
                                words_of(phase->phase), to_string(phase->needs), to_string(phase->limit));
  finding.evidence = {evidence_of_key(facts, "parallel.initialization")};
  return {finding};
}

std::vector<MachineRemark> group_remarks(const Case&, const MachineFacts& machine) {
  constexpr double k_full = 0.9;
  if (!machine.memory_limit || !machine.memory_used) return {};
  const double used =
      static_cast<double>(machine.memory_used->value) / static_cast<double>(machine.memory_limit->value);
  if (used < k_full) return {};
  return {{fmt::format("{} of the {} that the group of {} may have are in use before the job begins.",
                       to_string(*machine.memory_used), to_string(*machine.memory_limit), name_of(machine)),
           Severity::warning,
           {evidence_of_machine(machine, "memory.max", to_string(*machine.memory_limit)),
            evidence_of_machine(machine, "memory.current", to_string(*machine.memory_used))}}};
}

Rule host_exhausted() {
  return {
      .id = "memory/host-exhausted",
      .codes = {"Y-09"},
      .title = "the host ran out of memory",
      .severity = Severity::error,
      .needs = {Need::prediction, Need::environment, Need::log},
      .threshold = "exit by signal 9; host memory of a node below ranks times what each loads or offloads",
      .source = "the kernel's out-of-memory killer; cgroup limits of containers and Slurm",
      .message =
          "A process was killed without a word, or an allocation on the host failed: the host's memory is "
          "exhausted.",
      .explanation =
          "The kernel ends the process that uses most (signal 9, exit code 137), so that no traceback is "
          "left. Every rank that loads a whole checkpoint, offloaded states and data workers add up on one "
          "node.",
      .fix = {.kind = FixKind::settings,
              .text = "load on rank 0 and broadcast, or from shards (parallel.initialization); offload less; "
                      "ask for more memory per node"},
      .example =
          "torch.distributed.elastic.multiprocessing.api: failed (exitcode: -9) local_rank: 1 (pid: 1168) of "
          "binary: /usr/bin/python",
      .signs =
          {
              {.pattern = "exitcode*: -9*", .certainty = 85, .role = Role::symptom, .message = k_killed},
              {.pattern = "exits with return code = -9",
               .certainty = 85,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "exit code -9", .certainty = 75, .role = Role::symptom, .message = k_killed},
              {.pattern = "exit code: -9", .certainty = 80, .role = Role::symptom, .message = k_killed},
              {.pattern = "signal 9 (sigkill) received",
               .certainty = 85,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "died with <signals.sigkill: 9>",
               .certainty = 88,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "returned*-9*signal.sigkill",
               .certainty = 80,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "rank*ended*: killed by signal 9",
               .certainty = 84,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "exitcode 137", .certainty = 82, .role = Role::symptom, .message = k_killed},
              {.pattern = "exit code 137", .certainty = 84, .role = Role::symptom, .message = k_killed},
              {.pattern = "exit code: 137", .certainty = 84, .role = Role::symptom, .message = k_killed},
              {.pattern = "exit status 137", .certainty = 84, .role = Role::symptom, .message = k_killed},
              {.pattern = "exit status: 137", .certainty = 84, .role = Role::symptom, .message = k_killed},
              {.pattern = "terminated with signal sigkill",
               .certainty = 86,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "killed by sigkill by oom killer",
               .certainty = 56,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "killed",
               .certainty = 72,
               .role = Role::symptom,
               .message = k_killed,
               .whole_line = true},
              {.pattern = "line*: * killed*python",
               .certainty = 80,
               .role = Role::symptom,
               .message = k_killed},
              {.pattern = "beyond physical memory limits", .certainty = 90},
              {.pattern = "memoryerror", .certainty = 66, .unless = {"outofmemoryerror"}},
              {.pattern = "task*: out of memory", .certainty = 84},
              {.pattern = "out of memory: kill* process", .certainty = 92},
              {.pattern = "out of memory: killed process", .certainty = 94},
              {.pattern = "oom-kill:constraint=", .certainty = 92},
              {.pattern = "memory cgroup out of memory", .certainty = 94},
              {.pattern = "invoked oom-killer", .certainty = 92},
              {.pattern = "oom_reaper: reaped process", .certainty = 80},
              {.pattern = "oom-kill event", .certainty = 94},
              {.pattern = "oom_kill event", .certainty = 94},
              {.pattern = "out-of-memory handler", .certainty = 90},
              {.pattern = "some of the step tasks have been oom killed", .certainty = 92},
              {.pattern = "oomkilled", .certainty = 94},
              {.pattern = "the node was low on resource: memory", .certainty = 92},
              {.pattern = "task*out of memory*slurmstepd", .certainty = 85},
              {.pattern = "slurmstepd*exceeded memory limit", .certainty = 92},
              {.pattern = "exceeded job memory limit", .certainty = 90},
              {.pattern = "task*: killed", .certainty = 62},
              {.pattern = "defaultcpuallocator: can't allocate memory", .certainty = 94},
              {.pattern = "defaultcpuallocator: not enough memory", .certainty = 94},
              {.pattern = "posix_memalign*cannot allocate memory", .certainty = 80},
              {.pattern = "oserror: [errno 12] cannot allocate memory", .certainty = 90},
              {.pattern = "[errno 12] cannot allocate memory", .certainty = 85},
              {.pattern = "std::bad_alloc", .certainty = 80},
              {.pattern = "memoryerror: unable to allocate", .certainty = 90},
              {.pattern = "unable to allocate*for an array with shape", .certainty = 85},
              {.pattern = "unable to mmap*cannot allocate memory", .certainty = 80, .unless = {"shm"}},
              {.pattern = "unable to mmap*bytes from file*cannot allocate memory", .certainty = 82},
              {.pattern = "a worker in a*killed*memory usage", .certainty = 60},
              {.pattern = "a worker was killed*out of memory", .certainty = 80},
              {.pattern = "worker*killed due to memory pressure (oom)", .certainty = 92},
              {.pattern = "task was killed due to the node running low on memory", .certainty = 92},
              {.pattern = "dataloader worker*is killed by signal: killed", .certainty = 84},
              {.pattern = "cannot allocate memory*host", .certainty = 60},
          },
      .checks = {{.needs = {Need::prediction}, .run = check_host_phases},
                 {.needs = {Need::environment}, .run = machine_check<group_remarks>}},
  };
}

}  // namespace

std::vector<Rule> memory_host_exhausted_rules() {
  return {host_exhausted()};
}

}  // namespace shardlab
