// What the other ranks print when one has died.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule remote_error() {
  return {
      .id = "collectives/remote-error",
      .codes = {"E-09"},
      .title = "another process ended first",
      .severity = Severity::error,
      .needs = {Need::log},
      .source =
          "NCCL's ncclRemoteError: \"a call failed possibly due to a network error or a remote process "
          "exiting prematurely\"; torch/distributed/elastic/multiprocessing/api.py",
      .message = "This process lost a peer: the cause stands in the log of the rank that ended first.",
      .explanation =
          "NCCL's remote error, connections that are closed or reset, broken pipes, and SIGTERM sent by the "
          "launcher follow when a process ends. They say nothing of the reason, and a longer timeout only "
          "hides it.",
      .fix = {.kind = FixKind::command,
              .text =
                  "look at the log of the rank that ended first (the earliest traceback, or the launcher's "
                  "\"Root Cause\"); torchrun --log-dir DIR --redirects 3 keeps one file a rank"},
      .example =
          "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting "
          "prematurely.",
      .signs =
          {
              {.pattern = "considered dead (unreachable via the ras network)",
               .certainty = 88,
               .message = "NCCL's RAS has lost a process for a minute: it ended, or its node did.",
               .fix = "look at the log of the process that the next line names, and at its node"},
              {.pattern = "missing communicator data from*job process",
               .certainty = 72,
               .message = "A process does not answer NCCL's RAS: it ended, or does not get to run.",
               .fix = "look at the process that the next line names; after a minute RAS calls it dead"},
              {.pattern = "[service thread] connection closed by localrank",
               .certainty = 50,
               .role = Role::consequence,
               .most = Severity::info},
              {.pattern = "failed to recv, got 0 bytes", .certainty = 58, .role = Role::consequence},
              {.pattern = "connection was likely closed. did the remote server shutdown or crash",
               .certainty = 62,
               .role = Role::consequence},
              {.pattern = "proxy call to rank*failed", .certainty = 52, .role = Role::consequence},
              {.pattern = "was caused by an exception on one of the ranks",
               .certainty = 56,
               .role = Role::consequence},
              {.pattern = "socket recv failed while polling", .certainty = 52, .role = Role::consequence},
              {.pattern = "error waiting on exit barrier", .certainty = 45, .role = Role::consequence},
              {.pattern = "has failed to shutdown the rendezvous",
               .certainty = 45,
               .role = Role::consequence},
              {.pattern = "has failed to send a keep-alive heartbeat",
               .certainty = 45,
               .role = Role::consequence},
              {.pattern = "retrieving nccluniqueid*connection reset by peer",
               .certainty = 82,
               .role = Role::consequence},
              {.pattern = "retrieving nccluniqueid*broken pipe", .certainty = 82, .role = Role::consequence},
              {.pattern = "ncclremoteerror", .certainty = 60, .role = Role::consequence},
              {.pattern = "nccl*remote error", .certainty = 55, .role = Role::consequence},
              {.pattern = "remote process exited or there was a network error",
               .certainty = 72,
               .role = Role::consequence},
              {.pattern = "connection closed by remote peer", .certainty = 60, .role = Role::consequence},
              {.pattern = "connection closed by peer", .certainty = 60, .role = Role::consequence},
              {.pattern = "connection reset by peer", .certainty = 50, .role = Role::consequence},
              {.pattern = "nccl*broken pipe", .certainty = 55, .role = Role::consequence},
              {.pattern = "recv*failed*broken pipe", .certainty = 55, .role = Role::consequence},
              {.pattern = "sendbytes failed on socketimpl*broken pipe",
               .certainty = 55,
               .role = Role::consequence},
              {.pattern = "recvvalue failed on socketimpl", .certainty = 52, .role = Role::consequence},
              {.pattern = "failed to check the \"should dump\" flag on tcpstore",
               .certainty = 50,
               .role = Role::consequence},
              {.pattern = "tcpstore server has shut down", .certainty = 50, .role = Role::consequence},
              {.pattern = "brokenpipeerror: [errno 32]", .certainty = 40, .role = Role::consequence},
              {.pattern = "sending process*closing signal sigterm",
               .certainty = 40,
               .role = Role::consequence},
              {.pattern = "exits with return code = -15", .certainty = 35, .role = Role::consequence},
              {.pattern = "gloo*connection closed by peer", .certainty = 62, .role = Role::consequence},
              {.pattern = "connection refused*nccl", .certainty = 30, .role = Role::consequence},
              {.pattern = "read error*connection reset by peer", .certainty = 52, .role = Role::consequence},
              {.pattern = "nccl communicator encountered error set by processgroupnccl",
               .certainty = 40,
               .role = Role::consequence},
              {.pattern = "process group watchdog thread terminated with exception: nccl error: remote",
               .certainty = 55,
               .role = Role::consequence},
              {.pattern = "proxy service*failed to execute operation connect",
               .certainty = 55,
               .role = Role::consequence},
              {.pattern = "rendezvousconnectionerror*connection to the c10d store has failed",
               .certainty = 40,
               .role = Role::consequence},
              {.pattern = "lost connection to*peer", .certainty = 40, .role = Role::consequence},
              {.pattern = "terminate called without an active exception",
               .certainty = 30,
               .role = Role::consequence,
               .message = "A thread still ran when the process ended: what ended it stands above, or in the "
                          "log of the rank that ended first."},
          },
  };
}

}  // namespace

std::vector<Rule> collectives_remote_error_rules() {
  return {remote_error()};
}

}  // namespace shardlab
