// Addresses and ports of other nodes.
#include <fmt/format.h>
#include <algorithm>

#include "engine/doctor/machine/machine_evidence.h"
#include "engine/doctor/machine/machine_questions.h"
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

constexpr std::string_view k_not_this_node =
    "The head address is not one of this node, which was told to be the head.";
constexpr std::string_view k_privileged =
    "The port may not be used by this user: those below 1024 belong to the system.";
constexpr std::string_view k_other_port =
    "a port between 1024 and 65535 (torchrun --master-port, deepspeed --master_port)";

// torchrun's agents keep a store at the port before any process runs.
bool has_agent(const MachineFacts& machine) {
  return variable(machine, "TORCHELASTIC_RUN_ID") != nullptr;
}

std::vector<Evidence> head_evidence(const MachineFacts& machine) {
  return {evidence_of_machine(
      machine, "head",
      fmt::format("{}:{} {}", machine.head->host, machine.head->port, to_string(machine.head->what)))};
}

std::vector<MachineRemark> head_port_remarks(const Case&, const MachineFacts& machine) {
  if (!machine.head) return {};
  const Contact what = machine.head->what;
  const bool refused = what == Contact::refused && has_agent(machine);
  if (what != Contact::timed_out && !refused) return {};
  return {{fmt::format("{} does not reach port {} of {}: {}.", name_of(machine), machine.head->port,
                       machine.head->host,
                       refused ? "nobody listens there" : "no answer, as where a firewall drops what comes"),
           Severity::error, head_evidence(machine)}};
}

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

std::vector<MachineRemark> route_remarks(const Case& facts, const MachineFacts& machine) {
  std::vector<MachineRemark> remarks;
  if (machine.head && machine.head->what == Contact::unknown_name)
    remarks.push_back({fmt::format("{} does not know the name {}.", name_of(machine), machine.head->host),
                       Severity::error, head_evidence(machine)});
  if (machine.head && machine.head->what == Contact::unreachable)
    remarks.push_back({fmt::format("No way leads from {} to {}.", name_of(machine), machine.head->host),
                       Severity::error, head_evidence(machine)});
  const bool resolves_to_itself =
      !machine.host_addresses.empty() &&
      std::all_of(machine.host_addresses.begin(), machine.host_addresses.end(), is_loopback);
  if (resolves_to_itself && spans_hosts(*facts.machines))
    remarks.push_back(
        {fmt::format("{} is {} in its own files: an address given to other nodes by that name is "
                     "the loopback.",
                     machine.host, machine.host_addresses.front()),
         Severity::warning,
         {evidence_of_machine(machine, "/etc/hosts", machine.host_addresses.front() + " " + machine.host)}});
  return remarks;
}

bool is_own_address(const MachineFacts& machine, const std::string& host) {
  if (host == machine.host || host == "localhost" || is_loopback(host)) return true;
  return std::any_of(machine.interfaces.begin(), machine.interfaces.end(), [&](const NetworkInterface& each) {
    return std::find(each.addresses.begin(), each.addresses.end(), host) != each.addresses.end();
  });
}

std::vector<MachineRemark> in_use_remarks(const Case&, const MachineFacts& machine) {
  if (!machine.head || has_agent(machine) || machine.rank.value_or(0) != 0 ||
      !is_own_address(machine, machine.head->host))
    return {};
  const int port = machine.head->port;
  if (std::find(machine.listening.begin(), machine.listening.end(), port) == machine.listening.end())
    return {};
  return {{fmt::format("Port {} of {} is the rendezvous, and somebody listens there already.", port,
                       name_of(machine)),
           Severity::error,
           {evidence_of_variable(machine, "MASTER_PORT"),
            evidence_of_machine(machine, "/proc/net/tcp", fmt::format("port {} listens", port))}}};
}

Rule port_unreachable() {
  return {
      .id = "start/port-unreachable",
      .codes = {"C-25", "E-02"},
      .title = "a port of another node cannot be reached",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "torch/csrc/distributed/c10d/socket.cpp",
      .message =
          "A connection to another node was refused or timed out: a firewall, or nobody listens there.",
      .explanation =
          "The chosen port (29500 by default) and ephemeral ports for NCCL and Gloo must be open between "
          "nodes.",
      .fix = {.kind = FixKind::command,
              .text = "nc -zv HEAD 29500 from every node; open the port and the ephemeral range between "
                      "them, or choose another port"},
      .example =
          "[W socket.cpp:697] [c10d] The client socket has failed to connect to [node1]:29500 (errno: 110 - "
          "Connection timed out).",
      .signs =
          {
              {.pattern = "connection refused",
               .certainty = 44,
               .unless = {"https://", "httpsconnectionpool", "httpconnectionpool", "urlopen", "huggingface",
                          "wandb"}},
              {.pattern = "client socket has failed to connect to*connection timed out", .certainty = 86},
              {.pattern = "client socket has failed to connect to*connection refused", .certainty = 74},
              {.pattern = "client socket has failed to connect",
               .certainty = 62,
               .unless = {"errno: 99", "errno: 97"}},
              {.pattern = "errno: 111 - connection refused", .certainty = 78},
              {.pattern = "errno: 110 - connection timed out", .certainty = 86},
              {.pattern = "connectionrefusederror: [errno 111]", .certainty = 76},
              {.pattern = "timeouterror: [errno 110] connection timed out", .certainty = 80},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<head_port_remarks>}},
  };
}

Rule no_route() {
  return {
      .id = "start/no-route",
      .codes = {"E-03"},
      .title = "there is no way to the head node",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "the resolver; torch/csrc/distributed/c10d/socket.cpp",
      .message = "The name or address of the head node leads nowhere.",
      .explanation =
          "Names are resolved on each node; an address of another network, or localhost, cannot be reached.",
      .fix = {.kind = FixKind::command,
              .text = "getent hosts HEAD and ping HEAD from every node before the job"},
      .example =
          "torch.distributed.DistNetworkError: The client socket has failed to connect to any network "
          "address of (node-head, 29500). The IPv6 network addresses of (node-head, 29500) cannot be "
          "retrieved (gai error: -2 - Name or service not known).",
      .signs =
          {
              {.pattern = "command 'ssh*returned non-zero exit status 255",
               .certainty = 84,
               .message = "The launcher could not log in to a node by ssh.",
               .fix = "ssh NODE hostname must work from the head node without a password, with the name and "
                      "port of the hostfile (ssh keys, --ssh_port); or start every node by itself"},
              {.pattern = "was not reachable via ssh",
               .certainty = 90,
               .message = "The launcher could not log in to a node by ssh.",
               .fix = "ssh NODE hostname must work from the head node without a password, with the name and "
                      "port of the hostfile"},
              {.pattern = "name or service not known",
               .certainty = 88,
               .unless = {"cannot be retrieved", "https://", "httpsconnectionpool", "httpconnectionpool",
                          "urlopen", "huggingface", "wandb"}},
              {.pattern = "temporary failure in name resolution",
               .certainty = 88,
               .unless = {"cannot be retrieved", "https://", "httpsconnectionpool", "httpconnectionpool",
                          "urlopen", "huggingface", "wandb"}},
              {.pattern = "could not resolve hostname",
               .certainty = 84,
               .unless = {"https://", "httpsconnectionpool", "httpconnectionpool", "urlopen", "huggingface",
                          "wandb"}},
              {.pattern = "client socket has failed to connect to*errno: 22", .certainty = 80},
              {.pattern = "client socket has failed to connect to*errno: 113", .certainty = 90},
              {.pattern = "client socket has failed to connect to*errno: 101", .certainty = 88},
              {.pattern = "client socket has failed to connect to*[localhost]*errno: 99",
               .certainty = 45,
               .message = "localhost has no IPv6 address here: harmless where the job goes on, else the head "
                          "address is wrong.",
               .fix = "MASTER_ADDR=127.0.0.1 on one node, the address of the head node on several",
               .most = Severity::info},
              {.pattern = "server socket has failed*cannot assign requested address",
               .certainty = 93,
               .message = k_not_this_node,
               .fix =
                   "start node rank 0 on the node that MASTER_ADDR names (hostname -I shows its addresses)"},
              {.pattern = "eaddrnotavail",
               .certainty = 93,
               .message = k_not_this_node,
               .fix =
                   "start node rank 0 on the node that MASTER_ADDR names (hostname -I shows its addresses)"},
              {.pattern = "gaierror",
               .certainty = 86,
               .unless = {"https://", "httpsconnectionpool", "httpconnectionpool", "urlopen", "huggingface",
                          "wandb"}},
              {.pattern = "cannot be retrieved (gai error",
               .certainty = 45,
               .message = "A name could not be resolved to an address of one kind; without an error after it "
                          "that is harmless.",
               .most = Severity::info},
              {.pattern = "distnetworkerror*cannot be retrieved (gai error", .certainty = 90},
              {.pattern = "failed to connect*gai error", .certainty = 90},
              {.pattern = "nodename nor servname provided", .certainty = 85},
              {.pattern = "errno: 113 - no route to host", .certainty = 92},
              {.pattern = "oserror: [errno 113] no route to host", .certainty = 90},
              {.pattern = "no route to host", .certainty = 80, .unless = {"nccl"}},
              {.pattern = "errno: 101 - network is unreachable", .certainty = 88},
              {.pattern = "network is unreachable", .certainty = 66, .unless = {"ibv_"}},
              {.pattern = "could not resolve host*", .certainty = 70, .unless = {"huggingface", "github"}},
              {.pattern = "ssh: connect to host", .certainty = 84},
              {.pattern = "ssh: could not resolve hostname", .certainty = 90},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<route_remarks>}},
  };
}

Rule port_in_use() {
  return {
      .id = "start/port-in-use",
      .codes = {"Y-08"},
      .title = "the rendezvous port is in use",
      .severity = Severity::error,
      .needs = {Need::environment, Need::log},
      .source = "torch/csrc/distributed/c10d/socket.cpp",
      .message = "The port of the rendezvous is bound by another process.",
      .explanation =
          "A second job of the same node with the default port, or a process of an earlier job that still "
          "runs.",
      .fix = {.kind = FixKind::command,
              .text = "ss -ltnp names the owner; give every job a port of its own (torchrun --master-port, "
                      "or --rdzv-endpoint host:0 on one node)"},
      .example =
          "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network "
          "address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use).",
      .signs =
          {
              {.pattern = "server socket has failed*permission denied",
               .certainty = 94,
               .message = k_privileged,
               .fix = k_other_port},
              {.pattern = "eacces*permission denied",
               .certainty = 94,
               .message = k_privileged,
               .fix = k_other_port},
              {.pattern = "eaddrinuse", .certainty = 92},
              {.pattern = "address already in use", .certainty = 90},
              {.pattern = "server socket has failed to bind", .certainty = 86},
              {.pattern = "server socket has failed to listen", .certainty = 88},
              {.pattern = "port*is already in use", .certainty = 90, .unless = {"finding an open port"}},
              {.pattern = "port*already allocated", .certainty = 80},
              {.pattern = "error: port*already in use", .certainty = 90},
              {.pattern = "communication on port*but another process is utilizing it", .certainty = 90},
              {.pattern = "errno 98", .certainty = 85},
              {.pattern = "only one usage of each socket address", .certainty = 85},
              {.pattern = "connection error*port*in use", .certainty = 80},
          },
      .checks = {{.needs = {Need::environment}, .run = machine_check<in_use_remarks>}},
  };
}

}  // namespace

std::vector<Rule> start_ports_rules() {
  return {port_unreachable(), no_route(), port_in_use()};
}

}  // namespace shardlab
