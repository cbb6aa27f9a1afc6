// Traffic inside a node.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

Rule peer_to_peer() {
  return {
      .id = "network/peer-to-peer",
      .codes = {"E-10"},
      .title = "GPUs of a node do not reach each other directly",
      .severity = Severity::warning,
      .needs = {Need::environment, Need::measurement, Need::log},
      .threshold = "shared memory or network inside a node with NVLink",
      .source = "NCCL's transport/p2p.cc and graph/paths.cc",
      .message = "NCCL does not use direct access between GPUs of a node.",
      .explanation =
          "Virtual machines, access control services of PCIe switches, consumer GPUs and containers without "
          "the right devices prevent it; traffic then goes through host memory.",
      .fix = {.kind = FixKind::command,
              .text = "nvidia-smi topo -p2p r shows what is possible; look at the container's devices and "
                      "the switches' access control"},
      .example =
          "NCCL INFO P2P is disabled between connected GPUs 2 and 1. You can repress this message with "
          "NCCL_IGNORE_DISABLED_P2P=1.",
      .signs =
          {
              {.pattern = "missing \"iommu=pt\" from kernel command line",
               .certainty = 82,
               .message = "The kernel translates the devices' addresses, which slows or stops direct access "
                          "between GPUs.",
               .fix = "add iommu=pt to the kernel command line, or run with NCCL_P2P_DISABLE=1 until then"},
              {.pattern = "p2p is disabled between", .certainty = 90},
              {.pattern = "p2p is disabled", .certainty = 80},
              {.pattern = "peer access is not supported between", .certainty = 90},
              {.pattern = "peer access*not supported", .certainty = 85},
              {.pattern = "could not enable p2p between dev", .certainty = 88},
              {.pattern = "nccl_p2p_disable set by environment to 1",
               .certainty = 60,
               .message = "Direct access between GPUs is turned off by the environment.",
               .only_info = true},
              {.pattern = "doesn't support faster communication broadband via p2p or ib",
               .certainty = 72,
               .message = "This GPU has no direct access between cards; accelerate turns it off.",
               .only_info = true},
              {.pattern = "custom allreduce is disabled because*p2p", .certainty = 50, .only_info = true},
              {.pattern = "failed to open*cuda ipc", .certainty = 70},
              {.pattern = "cudaipcopenmemhandle", .certainty = 78},
              {.pattern = "cuipc*", .certainty = 50},
              {.pattern = "could not map peer", .certainty = 70},
              {.pattern = "cuda error: peer mapping", .certainty = 80},
              {.pattern = "failed to cuda calloc async", .certainty = 30},
          },
  };
}

}  // namespace

std::vector<Rule> network_peer_to_peer_rules() {
  return {peer_to_peer()};
}

}  // namespace shardlab
