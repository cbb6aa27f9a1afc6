// Settings of InfiniBand.
#include <fmt/format.h>
#include <algorithm>

#include "engine/doctor/machine/compare_machines.h"
#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

bool is_alike(const FabricPort& a, const FabricPort& b) {
  return a.layer == b.layer && a.gigabits == b.gigabits;
}

std::vector<MachineRemark> choice_remarks(const Case&, const MachineFacts& machine) {
  const std::vector<FabricPort> ports = active_ports(machine);
  if (ports.empty() || variable(machine, "NCCL_IB_HCA") != nullptr) return {};
  const auto other = std::find_if(ports.begin(), ports.end(),
                                  [&](const FabricPort& port) { return !is_alike(port, ports.front()); });
  if (other == ports.end()) return {};
  const auto words = [](const FabricPort& port) {
    return fmt::format("{}:{} with {} Gb/s {}", port.device, port.port, port.gigabits, port.layer);
  };
  return {{fmt::format("Active ports are not alike, {} and {}, and NCCL takes all of them.",
                       words(ports.front()), words(*other)),
           Severity::info,
           {evidence_of_variable(machine, "NCCL_IB_HCA"),
            evidence_of_machine(machine, "infiniband", words(*other))}}};
}

std::vector<MachineRemark> adapter_remarks(const Case&, const MachineFacts& machine) {
  const std::string* value = variable(machine, "NCCL_IB_HCA");
  if (value == nullptr || machine.fabric.empty()) return {};
  const NcclList list = nccl_list(*value);
  if (list.excludes) return {};
  std::vector<MachineRemark> remarks;
  for (const std::string& name : list.names) {
    const bool is_there =
        std::any_of(machine.fabric.begin(), machine.fabric.end(), [&](const FabricPort& port) {
          return is_named({false, list.is_exact, {name}}, port.device);
        });
    if (is_there) continue;
    remarks.push_back({fmt::format("NCCL_IB_HCA names {}, which {} does not have.", name, name_of(machine)),
                       Severity::warning,
                       {evidence_of_variable(machine, "NCCL_IB_HCA"),
                        evidence_of_machine(machine, "infiniband", machine.fabric.front().device)}});
  }
  return remarks;
}

SaidByName settings_of_infiniband(const MachineFacts& machine) {
  SaidByName said;
  for (const auto& [name, value] : machine.environment) {
    if (name.starts_with("NCCL_IB_")) said.emplace(name, value);
  }
  return said;
}

std::vector<Finding> check_adapters(const Rule& rule, const Case& facts) {
  std::vector<Finding> found = findings_of(rule, facts, adapter_remarks);
  for (const Difference& each : differences(*facts.machines, settings_of_infiniband))
    found.push_back(finding_about(rule, each));
  return found;
}

Rule adapters_not_chosen() {
  return {
      .id = "network/adapters-not-chosen",
      .codes = {"D-25"},
      .title = "no adapter is chosen",
      .severity = Severity::info,
      .needs = {Need::configuration, Need::environment},
      .source = "NCCL's NCCL_IB_HCA",
      .message = "The node has several adapters and none is named.",
      .explanation = "NCCL takes all that it finds; storage or management ports among them slow it down.",
      .fix = {.kind = FixKind::environment, .text = "name adapters and ports, NCCL_IB_HCA=mlx5_0:1,mlx5_1:1"},
      .example = "a node with mlx5_0 to mlx5_8, one of them for storage",
      .checks = {{.needs = {Need::environment}, .run = machine_check<choice_remarks>}},
  };
}

Rule infiniband_settings_differ() {
  return {
      .id = "network/infiniband-settings-differ",
      .codes = {"S-05"},
      .title = "InfiniBand settings differ between nodes, or name what is not there",
      .severity = Severity::warning,
      .needs = {Need::environment, Need::log},
      .source = "NCCL's environment variables",
      .message =
          "A setting of InfiniBand names a device, port or GID that does not exist, or differs between "
          "nodes.",
      .explanation = "NCCL_IB_HCA, NCCL_IB_SL, NCCL_IB_TC and the GID index must fit every node.",
      .fix = {.kind = FixKind::environment,
              .text = "list the values by node and make them fit (show_gids names the index of RoCE v2)"},
      .example = "NCCL WARN NET/IB : NCCL_IB_HCA mlx5_9 matches no device",
      .signs =
          {
              {.pattern = "nccl_ib_hca*no device", .certainty = 85},
              {.pattern = "nccl_ib_hca*not found", .certainty = 85},
              {.pattern = "nccl_ib_hca*no*match", .certainty = 85},
              {.pattern = "call to ibv_modify_qp failed*invalid argument", .certainty = 92},
              {.pattern = "ibv_modify_qp failed with error invalid argument", .certainty = 93},
              {.pattern = "ibv_modify_qp failed with*network is unreachable", .certainty = 92},
              {.pattern = "ibv_modify_qp failed with*no data available", .certainty = 91},
              {.pattern = "ibv_modify_qp failed with 22", .certainty = 92},
              {.pattern = "ibv_modify_qp failed with 101", .certainty = 91},
              {.pattern = "ibv_modify_qp failed with 61", .certainty = 91},
              {.pattern = "ibv_query_gid*failed", .certainty = 92},
              {.pattern = "gid index*not", .certainty = 80},
              {.pattern = "gid table changed", .certainty = 60},
              {.pattern = "localgid ::*", .certainty = 70},
          },
      .checks = {{.needs = {Need::environment}, .run = check_adapters}},
  };
}

}  // namespace

std::vector<Rule> network_infiniband_settings_rules() {
  return {adapters_not_chosen(), infiniband_settings_differ()};
}

}  // namespace shardlab
