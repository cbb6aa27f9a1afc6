// Jobs that somebody else ended.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// Whoever waits for such a job may have hung before: another cause comes first (symptom). What a scheduler
// also does to the rest of a job that failed says least (consequence).
LogSign of_time_limit(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 62,
          .role = Role::symptom,
          .message = "The job reached its time limit, and the scheduler ended it.",
          .fix =
              "ask for more time (sbatch --time), or save so often that the next job goes on from the "
              "newest checkpoint (train.save.every); sbatch --signal=B:USR1@300 tells it five minutes "
              "before"};
}

LogSign of_preemption(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 62,
          .role = Role::symptom,
          .message = "The scheduler preempted the job for another one.",
          .fix =
              "sbatch --requeue, with a job that goes on from its newest checkpoint (train.save.every), or "
              "a partition or quality of service that is not preempted"};
}

LogSign of_node_failure(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 64,
          .role = Role::symptom,
          .message = "A node failed under the job, and the scheduler ended the rest.",
          .fix =
              "go on from the newest checkpoint without the node (sbatch --exclude=NODE); sinfo -R and "
              "the node's dmesg say why it failed"};
}

LogSign of_hang_up(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 60,
          .role = Role::symptom,
          .unless = {"got signal: 15"},
          .message = "The terminal or the connection that started the job was closed (signal 1, SIGHUP).",
          .fix =
              "start it in tmux or screen, or with setsid: torchrun handles this signal itself, so that "
              "nohup alone does not keep it alive"};
}

LogSign of_told_to_end(std::string_view pattern, int certainty) {
  return {.pattern = pattern,
          .certainty = certainty,
          .role = Role::consequence,
          .message = "The launcher was told to end (signal 15, SIGTERM) by something outside of it.",
          .fix =
              "sacct -j JOB --format=State,ExitCode,Elapsed,Timelimit, or the container's events, say who: "
              "a limit, a preemption, a cancellation, or srun, because a task on another node failed, "
              "whose log then has the cause"};
}

LogSign of_cancellation(std::string_view pattern) {
  return {.pattern = pattern,
          .certainty = 46,
          .role = Role::consequence,
          .unless = {"due to"},
          .message = "Slurm cancelled the step: somebody asked for it (scancel), or a task of it had ended.",
          .fix =
              "sacct -j JOB --format=State,ExitCode,Elapsed,Timelimit says which; of a task that ended the "
              "log has the cause"};
}

Rule ended_from_outside() {
  return {
      .id = "environment/ended-from-outside",
      .codes = {"Y-22"},
      .title = "the job was ended from outside",
      .severity = Severity::error,
      .needs = {Need::log},
      .source = "Slurm's slurmstepd; torch/distributed/elastic/multiprocessing/api.py (SignalException)",
      .message = "Somebody ended the job; nothing in it had failed.",
      .explanation =
          "A scheduler's limit, a preemption, a failed node or a closed terminal ends processes by a signal. "
          "Lost peers and broken pipes that are printed afterwards follow from it.",
      .fix = {.kind = FixKind::command,
              .text =
                  "save so often that the next job goes on from the newest checkpoint (train.save.every); "
                  "sacct -j JOB --format=State,ExitCode,Elapsed,Timelimit says what ended this one"},
      .example =
          "slurmstepd: error: *** JOB 812345 ON node12 CANCELLED AT 2024-05-02T08:00:20 DUE TO TIME LIMIT "
          "***",
      .signs =
          {
              of_time_limit("cancelled at*due to time limit"),
              of_time_limit("walltime*exceeded limit"),
              of_time_limit("term_runlimit"),
              of_preemption("cancelled at*due to preemption"),
              of_preemption("cancelled at*due to job requeue"),
              of_preemption("this job is preempted"),
              of_node_failure("cancelled at*due to node failure"),
              of_node_failure("srun: error: node failure on"),
              of_hang_up("signalexception: process*got signal: 1"),
              of_hang_up("closing signal sighup"),
              {.pattern = "signalexception: process*got signal: 2",
               .certainty = 60,
               .role = Role::symptom,
               .message = "The launcher was interrupted (signal 2, SIGINT): at the keyboard, or by whoever "
                          "started it."},
              of_told_to_end("signalexception: process*got signal: 15", 55),
              of_told_to_end("received 15 death signal", 50),
              of_told_to_end("received signals.sigterm death signal", 50),
              {.pattern = "cancelled at*due to", .certainty = 50, .role = Role::symptom},
              of_cancellation("*** step*cancelled at"),
              of_cancellation("*** job*cancelled at"),
          },
  };
}

}  // namespace

std::vector<Rule> environment_ended_from_outside_rules() {
  return {ended_from_outside()};
}

}  // namespace shardlab
