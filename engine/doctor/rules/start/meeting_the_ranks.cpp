// Meeting of the ranks.
#include <fmt/format.h>

#include "engine/doctor/check_signs.h"
#include "engine/doctor/log/log_facts.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// Ranks wait in the first barrier and nobody is said to have passed it.
std::vector<Finding> check_barrier(const Rule& rule, const Case& facts) {
  if (!facts.log->barrier) return {};
  const WaitingBarrier& barrier = *facts.log->barrier;
  Finding finding = finding_of(rule);
  finding.certainty = 62;
  finding.position = barrier.at.line;
  finding.evidence = {evidence_of(facts, barrier.at)};
  if (barrier.arrived > barrier.world) {
    finding.message = fmt::format(
        "{} processes came to a barrier of {}: each node was told another number of ranks, or started them "
        "twice.",
        barrier.arrived, barrier.world);
  } else {
    finding.message = fmt::format("{} of {} ranks are in the first barrier; they wait for the others.",
                                  barrier.arrived, barrier.world);
  }
  return {finding};
}

Rule rendezvous_fails() {
  return {
      .id = "start/rendezvous-fails",
      .codes = {"E-01"},
      .title = "the ranks do not meet",
      .severity = Severity::error,
      .needs = {Need::configuration, Need::log},
      .source =
          "torch/csrc/distributed/c10d/TCPStore.cpp and socket.cpp; torch/distributed/elastic/rendezvous",
      .message =
          "The process group was not formed: ranks waited for each other at the rendezvous and gave up.",
      .explanation =
          "Head address, port, world size and rank must fit on all nodes, and all must start within the "
          "timeout. One rank that died before it, or waits for a download, looks the same.",
      .fix = {.kind = FixKind::command,
              .text = "compare MASTER_ADDR, MASTER_PORT, WORLD_SIZE and the ranks of all nodes; one command "
                      "for all nodes avoids differences"},
      .example =
          "[E socket.cpp:1023] [c10d] The client socket has timed out after 600000ms while trying to connect "
          "to (192.0.2.9, 50437).",
      .signs =
          {
              {.pattern = "is setting up nccl communicator and retr", .certainty = 82},
              {.pattern = "the new group's world size should be less or equal to the world size",
               .certainty = 74,
               .message = "A group of ranks is larger than the job.",
               .fix = "compare the sizes of the parallel groups with the number of processes of the launch"},
              {.pattern = "the world size*must be divisible by 'group_size",
               .certainty = 74,
               .message = "The groups do not divide the number of ranks.",
               .fix = "compare the sizes of the parallel groups with the number of processes of the launch"},
              {.pattern = "devicemesh only support homogeneous hardware",
               .certainty = 74,
               .message = "The nodes have different numbers of devices, or ranks see different ones.",
               .fix = "the same number of processes and visible devices on every node"},
              {.pattern = "mesh should not be bigger than default world size",
               .certainty = 72,
               .message = "The job has fewer ranks than its mesh of devices.",
               .fix = "compare the product of the parallel dimensions with the number of processes of the "
                      "launch"},
              {.pattern = "invalid parallel dims*world_size",
               .certainty = 80,
               .message = "The parallel dimensions do not multiply to the number of ranks.",
               .fix = "compare the product of the parallel dimensions with the number of processes of the "
                      "launch"},
              {.pattern = "world_size*is not divisible by*parallel",
               .certainty = 72,
               .message = "The parallel dimensions do not divide the number of ranks.",
               .fix = "compare the product of the parallel dimensions with the number of processes of the "
                      "launch"},
              {.pattern = "world size*is not divisible by*parallel",
               .certainty = 72,
               .message = "The parallel dimensions do not divide the number of ranks.",
               .fix = "compare the product of the parallel dimensions with the number of processes of the "
                      "launch"},
              {.pattern = "connect() timed out", .certainty = 80},
              {.pattern = "stop_waiting response is expected", .certainty = 82},
              {.pattern = "error: ", .certainty = 54, .frame = "tcpstore("},
              {.pattern = "runtimeerror: socket timeout", .certainty = 70},
              {.pattern = "retrieving nccluniqueid*timeout", .certainty = 80},
              {.pattern = "retrieving nccluniqueid", .certainty = 64, .role = Role::symptom},
              {.pattern = "the client socket has timed out after",
               .certainty = 84,
               .unless = {"while trying to read"}},
              {.pattern = "tcp client failed to connect", .certainty = 84},
              {.pattern = "client socket has failed to connect to any network address", .certainty = 82},
              {.pattern = "failed to connect to*tcpstore", .certainty = 80},
              {.pattern = "socket timeout*store", .certainty = 72},
              {.pattern = "wait timeout after*ms, keys:", .certainty = 78},
              {.pattern = "storebasedbarrier", .certainty = 74},
              {.pattern = "timed out initializing process group in store based barrier", .certainty = 90},
              {.pattern = "timed out waiting for clients", .certainty = 90},
              {.pattern = "timed out after*seconds waiting for clients", .certainty = 92},
              {.pattern = "waiting for clients.*/*clients joined", .certainty = 92},
              {.pattern = "rendezvoustimeouterror", .certainty = 86},
              {.pattern = "rendezvousclosederror", .certainty = 70},
              {.pattern = "rendezvousconnectionerror", .certainty = 76},
              {.pattern = "the connection to the c10d store has failed", .certainty = 78},
              {.pattern = "error initializing torch.distributed*rendezvous", .certainty = 50},
              {.pattern = "barrier timed out*store", .certainty = 66},
              {.pattern = "timeouterror*rendezvous", .certainty = 80},
              {.pattern = "distnetworkerror", .certainty = 50},
              {.pattern = "diststoreerror", .certainty = 58},
              {.pattern = "store.cpp*timed out", .certainty = 58},
              {.pattern = "failed to recv, got 0 bytes", .certainty = 55, .role = Role::consequence},
              {.pattern = "connect call failed*rendezvous", .certainty = 70},
              {.pattern = "agent*failed to join", .certainty = 55},
              {.pattern = "gloo rendezvous", .certainty = 45},
              {.pattern = "expected worldsize*but", .certainty = 60},
              {.pattern = "etcd*connection failed", .certainty = 60},
              {.pattern = "bootstrap*timeout", .certainty = 66},
              {.pattern = "timeout waiting for rx", .certainty = 50, .role = Role::symptom},
          },
      .checks = {{{Need::log}, check_barrier}},
  };
}

}  // namespace

std::vector<Rule> start_meeting_the_ranks_rules() {
  return {rendezvous_fails()};
}

}  // namespace shardlab
