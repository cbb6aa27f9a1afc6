// Remote direct memory access.
#include <fmt/format.h>
#include <algorithm>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

std::vector<MachineRemark> unused_remarks(const Case&, const MachineFacts& machine) {
  const std::vector<FabricPort> ports = active_ports(machine);
  if (ports.empty() || !is_switched_on(machine, "NCCL_IB_DISABLE")) return {};
  return {
      {fmt::format("NCCL_IB_DISABLE switches {} active port{} of {} off.", ports.size(),
                   ports.size() == 1 ? "" : "s", name_of(machine)),
       Severity::warning,
       {evidence_of_variable(machine, "NCCL_IB_DISABLE"),
        evidence_of_machine(machine, "infiniband",
                            fmt::format("{} at {} Gb/s", ports.front().device, ports.front().gigabits))}}};
}

std::vector<MachineRemark> gpu_direct_remarks(const Case&, const MachineFacts& machine) {
  if (machine.gpus.empty() || machine.modules.empty() || active_ports(machine).empty()) return {};
  const bool has_module =
      std::any_of(machine.modules.begin(), machine.modules.end(),
                  [](const std::string& name) { return name == "nvidia_peermem" || name == "nv_peer_mem"; });
  if (has_module) return {};
  return {
      {"The module nvidia-peermem is not loaded; without DMA-BUF (open kernel modules, a kernel from 5.12 "
       "on) traffic of GPUs goes through host memory.",
       Severity::info,
       {evidence_of_machine(machine, "modules", "no nvidia_peermem")}}};
}

Rule rdma_unused() {
  return {
      .id = "network/rdma-unused",
      .codes = {"D-14"},
      .title = "RDMA is there and not used",
      .severity = Severity::warning,
      .needs = {Need::configuration, Need::environment, Need::log},
      .source = "NCCL's transport/net_ib.cc",
      .message = "NCCL uses sockets although InfiniBand may be there.",
      .explanation =
          "The environment disables it, its plugin does not load, or the container lacks the devices. Levels "
          "of GPU direct are names (LOC, PIX, PXB, PHB, SYS).",
      .fix = {.kind = FixKind::environment,
              .text = "take NCCL_IB_DISABLE out of the environment and give the container the devices; "
                      "NCCL_DEBUG=INFO shows the transport chosen"},
      .example = "NCCL INFO NCCL_IB_DISABLE set by environment to 1.",
      .signs =
          {
              {.pattern = "nccl_ib_disable set by environment to 1",
               .certainty = 60,
               .message =
                   "InfiniBand is turned off by the environment; where the nodes have it, that is slow.",
               .most = Severity::info},
              {.pattern = "nccl info using network socket",
               .certainty = 30,
               .message = "NCCL uses TCP sockets between nodes.",
               .most = Severity::info},
              {.pattern = "net/socket : using",
               .certainty = 25,
               .message = "NCCL uses TCP sockets between nodes.",
               .most = Severity::info},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<unused_remarks>}},
  };
}

Rule gpu_direct_missing() {
  return {
      .id = "network/gpu-direct-missing",
      .codes = {"S-06"},
      .title = "GPU direct was asked for and is not there",
      .severity = Severity::warning,
      .needs = {Need::environment, Need::log},
      .source = "NCCL's transport/net_ib.cc; nvidia-peermem",
      .message = "GPU direct RDMA is not available: traffic goes through host memory.",
      .explanation =
          "It needs the peer memory module of the driver (nvidia-peermem) or DMA-BUF, and a short path "
          "between GPU and adapter.",
      .fix = {.kind = FixKind::command,
              .text = "modprobe nvidia-peermem on every node, and look at nvidia-smi topo -m"},
      .example = "NCCL INFO GPU Direct RDMA Disabled for HCA 0 'mlx5_0'",
      .signs =
          {
              {.pattern = "gpu direct rdma disabled for", .certainty = 60, .most = Severity::info},
              {.pattern = "gpudirect rdma*not available", .certainty = 80},
              {.pattern = "nv_peer_mem*not loaded", .certainty = 88},
              {.pattern = "nv_peer_mem*not found", .certainty = 85},
              {.pattern = "nvidia-peermem*not", .certainty = 80},
              {.pattern = "nvidia_peermem*not", .certainty = 80},
              {.pattern = "dmabuf*not supported", .certainty = 30, .most = Severity::info},
              {.pattern = "dma-buf is available*false", .certainty = 30, .most = Severity::info},
              {.pattern = "peer memory*not*loaded", .certainty = 80},
              {.pattern = "gdrcopy*not", .certainty = 40, .most = Severity::info},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<gpu_direct_remarks>}},
  };
}

}  // namespace

std::vector<Rule> network_direct_access_rules() {
  return {rdma_unused(), gpu_direct_missing()};
}

}  // namespace shardlab
