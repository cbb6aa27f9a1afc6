// InfiniBand and RoCE.
#include <fmt/format.h>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr Bytes k_locked = mebibytes(1024);  // what registers its buffers needs more

// A job of one host needs none of it.
std::vector<MachineRemark> inactive_remarks(const Case& facts, const MachineFacts& machine) {
  if (machine.fabric.empty() || is_switched_on(machine, "NCCL_IB_DISABLE")) return {};
  const Severity severity = spans_hosts(*facts.machines) ? Severity::warning : Severity::info;
  const FabricPort& port = machine.fabric.front();
  if (active_ports(machine).empty())
    return {{fmt::format("{} has {} port{} for InfiniBand or RoCE, and none is active: {} is {}.",
                         name_of(machine), machine.fabric.size(), machine.fabric.size() == 1 ? "" : "s",
                         port.device, port.state),
             severity,
             {evidence_of_machine(machine, "infiniband", port.device + " " + port.state)}}};
  if (machine.locked_memory && *machine.locked_memory < k_locked)
    return {
        {fmt::format("A process of {} may lock {}: InfiniBand's buffers are locked memory.", name_of(machine),
                     to_string(*machine.locked_memory)),
         Severity::warning,
         {evidence_of_machine(machine, "limits", "Max locked memory " + to_string(*machine.locked_memory))}}};
  return {};
}

Rule no_infiniband() {
  return {
      .id = "network/no-infiniband",
      .codes = {"C-24"},
      .title = "InfiniBand fails or is not there",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "NCCL's transport/net_ib.cc; ibv_* verbs",
      .message = "NCCL's InfiniBand transport fails.",
      .explanation =
          "The log names the verb that failed. Where the cluster has no InfiniBand, the transport should be "
          "off; where it has, look at device, port, GID index and limits of locked memory.",
      .fix = {.kind = FixKind::environment,
              .set = {"NCCL_IB_DISABLE=1"},
              .text = "where there is no InfiniBand, turn its transport off (sockets are slower); else check "
                      "ibstat, NCCL_IB_HCA and NCCL_IB_GID_INDEX"},
      .example =
          "ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
          "mlx5_1:1",
      .signs =
          {
              {.pattern = "failed to modify qp", .certainty = 80},
              {.pattern = "failed to create qp", .certainty = 78},
              {.pattern = "failed to register*memory region", .certainty = 70},
              {.pattern = "net/ib : got async event", .certainty = 82},
              {.pattern = "net/ib*port error", .certainty = 82},
              {.pattern = "ibv_modify_qp failed", .certainty = 90},
              {.pattern = "call to ibv_modify_qp failed", .certainty = 90},
              {.pattern = "call to ibv_*failed", .certainty = 88},
              {.pattern = "ibv_create_qp*failed", .certainty = 88},
              {.pattern = "ibv_create_cq*failed", .certainty = 86},
              {.pattern = "ibv_reg_mr*failed", .certainty = 84},
              {.pattern = "ibv_poll_cq*failed", .certainty = 84},
              {.pattern = "ibv_open_device*failed", .certainty = 84},
              {.pattern = "net/ib*unable to open device", .certainty = 86},
              {.pattern = "failed to open libibverbs", .certainty = 45, .most = Severity::info},
              {.pattern = "net/ib : no device found",
               .certainty = 40,
               .message = "NCCL found no InfiniBand device and uses sockets.",
               .most = Severity::info},
              {.pattern = "net/ib : got completion*status=12", .certainty = 60},
              {.pattern = "net/ib : got completion*error*5", .certainty = 66},
              {.pattern = "net/ib*got completion*with status=", .certainty = 64},
              {.pattern = "net/ib*got completion*with error", .certainty = 66},
              {.pattern = "net/ib*ignoring*completion", .certainty = 50},
              {.pattern = "ncclsystemerror*ibv_", .certainty = 80},
              {.pattern = "ib_plugin*warn", .certainty = 55},
              {.pattern = "no gid*found*net/ib", .certainty = 80},
              {.pattern = "libibverbs: warning", .certainty = 35, .most = Severity::info},
              {.pattern = "wrong link layer", .certainty = 60},
              {.pattern = "net/ib : unable to", .certainty = 75},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<inactive_remarks>}},
  };
}

}  // namespace

std::vector<Rule> network_infiniband_rules() {
  return {no_infiniband()};
}

}  // namespace shardlab
