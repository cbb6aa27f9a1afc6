// What several rules ask of machines. Private to the doctor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/machine/machine_facts.h"

namespace shardlab {

// Whether a job of these machines spans several hosts, or its launcher says so.
bool spans_hosts(const std::vector<MachineFacts>& machines);

// Ports for InfiniBand or RoCE that can be used.
std::vector<FabricPort> active_ports(const MachineFacts& machine);

// "1 GPU", "8 GPUs".
std::string count_of_gpus(const MachineFacts& machine);

// Whether a variable is set to something else than "0".
bool is_switched_on(const MachineFacts& machine, std::string_view name);

// What stands between commas.
std::vector<std::string> listed(std::string_view text);

// A list of NCCL (NCCL_SOCKET_IFNAME, NCCL_IB_HCA): beginnings of names, exact ones behind "=", all others
// behind "^"; a port behind ":" is left out.
struct NcclList {
  bool excludes = false, is_exact = false;
  std::vector<std::string> names;
};
NcclList nccl_list(std::string_view text);
bool is_named(const NcclList& list, std::string_view name);

}  // namespace shardlab
