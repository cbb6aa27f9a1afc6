// The interface that is used.
#include "engine/doctor/rules/rule_list.h"

namespace shardlab {
namespace {

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
  };
}

}  // namespace

std::vector<Rule> network_interface_rules() {
  return {wrong_interface()};
}

}  // namespace shardlab
