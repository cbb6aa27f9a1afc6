// Traffic inside a node.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

// Two GPUs of the matrix that do not reach each other directly.
std::optional<std::pair<std::size_t, std::size_t>> without_access(const GpuMatrix& access) {
  constexpr std::array<std::string_view, 3> k_well = {"OK", "X", "x"};
  for (std::size_t from = 0; from < access.size(); ++from) {
    for (std::size_t to = 0; to < access[from].size(); ++to) {
      if (std::find(k_well.begin(), k_well.end(), access[from][to]) == k_well.end())
        return std::pair(from, to);
    }
  }
  return std::nullopt;
}

bool has_nvlink(const MachineFacts& machine, std::size_t from, std::size_t to) {
  return from < machine.links.size() && to < machine.links[from].size() &&
         machine.links[from][to].starts_with("NV");
}

std::vector<MachineRemark> access_remarks(const Case&, const MachineFacts& machine) {
  if (machine.gpus.size() > 1 && is_switched_on(machine, "NCCL_P2P_DISABLE"))
    return {{fmt::format("NCCL_P2P_DISABLE keeps {} GPUs of {} from reaching each other directly.",
                         machine.gpus.size(), name_of(machine)),
             Severity::warning,
             {evidence_of_variable(machine, "NCCL_P2P_DISABLE")}}};
  const auto pair = without_access(machine.peer_access);
  if (!pair) return {};
  const auto [from, to] = *pair;
  const bool linked = has_nvlink(machine, from, to);
  return {{fmt::format("GPUs {} and {} of {} do not reach each other's memory{}.", from, to, name_of(machine),
                       linked ? ", although NVLink joins them" : ""),
           linked ? Severity::warning : Severity::info,
           {evidence_of_machine(machine, "nvidia-smi topo -p2p r",
                                fmt::format("GPU{} GPU{} {}", from, to, machine.peer_access[from][to]))}}};
}

Rule peer_to_peer() {
  return {
      .id = "network/peer-to-peer",
      .codes = {"E-10"},
      .title = "GPUs of a node do not reach each other directly",
      .severity = Severity::warning,
      .needs = {Need::files, Need::environment, Need::measurement, Need::log},
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
               .most = Severity::info},
              {.pattern = "notimplementederror: using rtx*doesn't support faster communication",
               .certainty = 90,
               .message =
                   "This GPU has no direct access between cards, and accelerate does not start with it "
                   "allowed.",
               .fix = "NCCL_P2P_DISABLE=1 and NCCL_IB_DISABLE=1, or accelerate launch, which sets them"},
              {.pattern = "doesn't support faster communication broadband via p2p or ib",
               .certainty = 72,
               .message = "This GPU has no direct access between cards; accelerate turns it off.",
               .most = Severity::info},
              {.pattern = "custom allreduce is disabled because*p2p",
               .certainty = 50,
               .most = Severity::info},
              {.pattern = "failed to open*cuda ipc", .certainty = 70},
              {.pattern = "cudaipcopenmemhandle", .certainty = 78},
              {.pattern = "cuipc*", .certainty = 50},
              {.pattern = "could not map peer", .certainty = 70},
              {.pattern = "cuda error: peer mapping", .certainty = 80},
              {.pattern = "failed to cuda calloc async", .certainty = 30},
          },
      .faults = {{.code = ErrorCode::no_direct_access}},
      .checks = {{.needs = {Need::environment}, .run = machine_check<access_remarks>}},
  };
}

}  // namespace

std::vector<Rule> network_peer_to_peer_rules() {
  return {peer_to_peer()};
}

}  // namespace shardlab
