// Interfaces, ports of adapters and of TCP, the head of the job. Private to this folder.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/machine/machine_facts.h"

namespace shardlab {

// Lines of `ip -br addr`: NAME STATE ADDRESS/LENGTH... ("eth0@if3" is eth0; the state of a loopback is
// UNKNOWN, which counts as up).
std::vector<NetworkInterface> interfaces_of(std::string_view text);

// Lines of DEVICE PORT STATE LAYER GIGABITS, as gather_texts.h writes them.
std::vector<FabricPort> fabric_of(std::string_view text);

// Local ports of the sockets that listen, of /proc/net/tcp.
std::vector<int> listening_of(std::string_view text);

// HOST PORT WHAT.
std::optional<HeadContact> head_of(std::string_view text);

}  // namespace shardlab
