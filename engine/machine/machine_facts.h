// What the texts of a machine say. What they do not say is absent: an empty text, list or optional.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/machine/head_contact.h"

namespace shardlab {

struct MachineGpu {
  int index = 0;  // by the order of the bus
  std::string uuid, name;
  Bytes memory, used;
  int capability = 0;  // 80 for 8.0; 0: not said
  int lanes = 0, most_lanes = 0;
};

struct GpuProcess {
  std::string gpu;  // its uuid
  std::int64_t number = 0;
  std::string name;
  Bytes used;
};

struct NetworkInterface {
  std::string name;
  bool is_up = false;
  std::vector<std::string> addresses;  // without the length of their network

  bool is_loopback() const { return name == "lo"; }
};

// A port of an adapter for InfiniBand or RoCE.
struct FabricPort {
  std::string device;
  int port = 1;
  std::string state, layer;  // "ACTIVE", "InfiniBand"
  double gigabits = 0;       // a second

  bool is_active() const { return state == "ACTIVE"; }
};

// How the GPUs of a machine reach each other: words of nvidia-smi, [from][to], by index.
using GpuMatrix = std::vector<std::vector<std::string>>;

// The head of the job as this machine reaches it, or not.
struct HeadContact {
  std::string host;
  int port = 0;
  Contact what = Contact::connected;
};

// A variable whose name no library reads, and what to do.
struct StrangeVariable {
  std::string name;
  std::string why;      // "is not read; NCCL_IB_HCA is"
  std::string instead;  // a name that is read; may be empty
};

struct MachineFacts {
  std::string source;  // the folder, or "this machine"
  std::string host;
  std::optional<int> rank;  // under a launcher
  std::map<std::string, std::string, std::less<>> environment;
  std::vector<StrangeVariable> strange_variables;

  std::vector<MachineGpu> gpus;
  bool says_gpus = false;  // false where nobody asked, true also without any
  std::vector<GpuProcess> gpu_processes;
  GpuMatrix links, peer_access;
  std::string driver, driver_cuda;                           // "580.95.05", "13.0"
  std::map<std::string, std::string, std::less<>> packages;  // of Python, their versions by name

  std::vector<NetworkInterface> interfaces;
  std::vector<std::string> host_addresses;  // to which the own name resolves
  std::vector<FabricPort> fabric;
  std::vector<int> listening;  // ports of TCP that somebody listens on
  std::optional<HeadContact> head;

  std::optional<Bytes> shared_memory;              // of /dev/shm
  std::optional<Bytes> memory;                     // of the host
  std::optional<Bytes> memory_limit, memory_used;  // of the own cgroup, where it has a limit
  std::optional<std::int64_t> open_files;          // the limit that holds; absent: none
  std::optional<Bytes> locked_memory;              // likewise
  std::vector<std::string> modules;                // of the kernel
};

}  // namespace shardlab
