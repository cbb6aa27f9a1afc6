// A machine as texts: what its kernel and the driver's tools print, by the names below. A folder holds each
// as a file of that name, so that one machine can be looked at on another, and people can make one by hand.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

namespace machine_text {
inline constexpr std::string_view k_hostname = "hostname";
inline constexpr std::string_view k_environment = "environment";        // NAME=VALUE a line
inline constexpr std::string_view k_interfaces = "interfaces";          // as `ip -br addr` prints it
inline constexpr std::string_view k_host_addresses = "host_addresses";  // of the own name, one a line
inline constexpr std::string_view k_head = "head";                      // "HOST PORT WHAT": head_contact.h
inline constexpr std::string_view k_shared_memory = "df_shm";           // as `df -B1 /dev/shm` prints it
inline constexpr std::string_view k_limits = "limits";                  // /proc/self/limits
inline constexpr std::string_view k_memory = "meminfo";                 // /proc/meminfo
inline constexpr std::string_view k_memory_limit = "memory.max";        // of the own cgroup
inline constexpr std::string_view k_memory_used = "memory.current";     // of the own cgroup
inline constexpr std::string_view k_listening = "tcp";                  // /proc/net/tcp and tcp6
inline constexpr std::string_view k_modules = "modules";                // /proc/modules
inline constexpr std::string_view k_fabric = "fabric";                  // "DEVICE PORT STATE LAYER GBPS"
inline constexpr std::string_view k_gpus = "gpus.csv";                  // the next four: of nvidia-smi
inline constexpr std::string_view k_gpu_processes = "gpu_processes.csv";
inline constexpr std::string_view k_topology = "topology";        // topo -m
inline constexpr std::string_view k_peer_access = "peer_access";  // topo -p2p r
inline constexpr std::string_view k_driver = "nvidia-smi";        // without arguments
inline constexpr std::string_view k_packages = "packages";        // "torch==2.11.0" a line
}  // namespace machine_text

using MachineTexts = std::map<std::string, std::string, std::less<>>;

struct RecordedMachine {
  std::string source;  // its folder, or what it is called
  MachineTexts texts;
};

// The machines in the folders of a folder, in the order of their names, or where those hold none the one in
// it. Errors are bad_input: a
// folder without any, and a text that is larger than a mebibyte or cannot be read.
Result<std::vector<RecordedMachine>> read_machines(const std::filesystem::path& folder);

// Writes each text into the folder, which is made, and is complete once the file `hostname` is there.
// not_possible where that cannot be done.
Status write_machine(const MachineTexts& texts, const std::filesystem::path& folder);

}  // namespace shardlab
