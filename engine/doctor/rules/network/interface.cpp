// The interface that is used.
#include <fmt/format.h>
#include <algorithm>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

bool any_interface(const MachineFacts& machine, const auto& is_meant) {
  return std::any_of(machine.interfaces.begin(), machine.interfaces.end(), is_meant);
}

std::string names_of(const MachineFacts& machine) {
  std::string names;
  for (const NetworkInterface& each : machine.interfaces)
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", each.name, each.is_up ? "" : " (down)");
  return names;
}

MachineRemark wrong_name(const MachineFacts& machine, std::string_view variable, std::string message) {
  return {std::move(message),
          Severity::error,
          {evidence_of_variable(machine, variable),
           evidence_of_machine(machine, "interfaces", names_of(machine))}};
}

// NCCL's own list: what begins with a name counts.
std::vector<MachineRemark> nccl_remarks(const MachineFacts& machine, bool spans_hosts) {
  constexpr std::string_view k_name = "NCCL_SOCKET_IFNAME";
  const std::string* value = variable(machine, k_name);
  if (value == nullptr) return {};
  const NcclList list = nccl_list(*value);
  if (!any_interface(machine, [&](const NetworkInterface& each) {
        return each.is_up && is_named(list, each.name) != list.excludes;
      }))
    return {wrong_name(machine, k_name,
                       fmt::format("NCCL_SOCKET_IFNAME={} leaves no interface of {} that is up.", *value,
                                   name_of(machine)))};
  const bool only_loopback = !list.excludes && !any_interface(machine, [&](const NetworkInterface& each) {
    return each.is_up && !each.is_loopback() && is_named(list, each.name);
  });
  if (spans_hosts && only_loopback)
    return {
        wrong_name(machine, k_name, "NCCL_SOCKET_IFNAME names the loopback, which no other node reaches.")};
  return {};
}

// Gloo's: exact names.
std::vector<MachineRemark> gloo_remarks(const MachineFacts& machine) {
  constexpr std::string_view k_name = "GLOO_SOCKET_IFNAME";
  const std::string* value = variable(machine, k_name);
  if (value == nullptr) return {};
  for (const std::string& name : listed(*value)) {
    if (any_interface(machine, [&](const NetworkInterface& each) { return each.name == name; })) continue;
    return {wrong_name(
        machine, k_name,
        fmt::format("GLOO_SOCKET_IFNAME names {}, which {} does not have.", name, name_of(machine)))};
  }
  return {};
}

std::vector<MachineRemark> interface_remarks(const Case& facts, const MachineFacts& machine) {
  if (machine.interfaces.empty()) return {};
  std::vector<MachineRemark> remarks = nccl_remarks(machine, spans_hosts(*facts.machines));
  for (MachineRemark& remark : gloo_remarks(machine)) remarks.push_back(std::move(remark));
  return remarks;
}

Rule wrong_interface() {
  return {
      .id = "network/wrong-interface",
      .codes = {"C-23", "D-03"},
      .title = "the wrong network interface",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "NCCL's NCCL_SOCKET_IFNAME; gloo/transport/tcp/device.cc",
      .message =
          "NCCL or Gloo uses a network interface that does not lead to the other nodes, or does not exist.",
      .explanation =
          "With several interfaces (docker0, virbr0, lo, several Ethernets) the first that looks usable is "
          "taken. NCCL takes a list with prefixes and `^` for exclusion; Gloo takes an exact name.",
      .fix = {.kind = FixKind::environment,
              .set = {"NCCL_SOCKET_IFNAME=eth0", "GLOO_SOCKET_IFNAME=eth0"},
              .text = "name the interface that leads to the other nodes (ip -br addr shows them)"},
      .example =
          "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/device.cc:84] ifa != "
          "nullptr. Unable to find address for: ^lo",
      .signs =
          {
              {.pattern = "gloo*connect timeout", .certainty = 80},
              {.pattern = "call to connect failed : connection timed out", .certainty = 76},
              {.pattern = "call to connect failed : no route to host", .certainty = 80},
              {.pattern = "socket creation failed : address family not supported", .certainty = 86},
              {.pattern = "exceeded*retries*connect", .certainty = 70},
              {.pattern = "socketstartconnect: exceeded", .certainty = 80},
              {.pattern = "socketpollconnect: exceeded", .certainty = 80},
              {.pattern = "socketpollconnect*returned 113", .certainty = 82},
              {.pattern = "socketpollconnect*returned 110", .certainty = 80},
              {.pattern = "socketpollconnect*returned 111", .certainty = 72},
              {.pattern = "socketpollconnect: connect to*failed", .certainty = 72},
              {.pattern = "connect to*failed : connection timed out", .certainty = 74},
              {.pattern = "gloo*connect*connection refused", .certainty = 80},
              {.pattern = "gloo*connect*no route to host", .certainty = 84},
              {.pattern = "bootstrap*no route to host", .certainty = 82},
              {.pattern = "unable to find address for", .certainty = 95},
              {.pattern = "unable to find interface for", .certainty = 92},
              {.pattern = "is neither af_inet", .certainty = 90},
              {.pattern = "no interface found", .certainty = 85},
              {.pattern = "no socket interface found", .certainty = 95},
              {.pattern = "bootstrap : no socket interface", .certainty = 95},
              {.pattern = "no usable*interface", .certainty = 85},
              {.pattern = "could not find any local interface", .certainty = 90},
              {.pattern = "interface*not found*nccl", .certainty = 80},
              {.pattern = "nccl_socket_ifname*not found", .certainty = 85},
              {.pattern = "connectfullmesh failed", .certainty = 86},
              {.pattern = "gloo connectfullmesh", .certainty = 86},
              {.pattern = "no route to host", .certainty = 62},
              {.pattern = "network is unreachable", .certainty = 62},
              {.pattern = "net/socket : no interface", .certainty = 92},
              {.pattern = "net : connect to*failed : no route to host", .certainty = 80},
              {.pattern = "net : connect to*failed : connection timed out", .certainty = 78},
              {.pattern = "connect to*docker", .certainty = 50},
              {.pattern = "socketstartconnect: connect to*127.0.", .certainty = 80},
              {.pattern = "socketstartconnect: connect to*failed", .certainty = 72},
              {.pattern = "connect to*failed : software caused connection abort", .certainty = 74},
              {.pattern = "call to connect returned connection timed out", .certainty = 76},
              {.pattern = "call to connect returned no route to host", .certainty = 80},
              {.pattern = "call to connect*failed*connection refused", .certainty = 58},
              {.pattern = "call to connect returned connection refused", .certainty = 60},
              {.pattern = "gloo*makedeviceforhostname", .certainty = 85},
              {.pattern = "makedeviceforhostname", .certainty = 85},
              {.pattern = "unable to resolve hostname to a (local) address", .certainty = 92},
              {.pattern = "unable to resolve*hostname*local*", .certainty = 80},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<interface_remarks>}},
  };
}

}  // namespace

std::vector<Rule> network_interface_rules() {
  return {wrong_interface()};
}

}  // namespace shardlab
