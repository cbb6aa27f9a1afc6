// The section `cluster` of a scenario: on what it runs.
#pragma once

#include <optional>
#include <string>

#include "engine/base/units.h"
#include "engine/hardware/device_kind.h"
#include "engine/hardware/supposed.h"
#include "engine/scenario/run_words.h"

namespace shardlab {

// The file system that offload to NVMe uses, with its rates as this node attains them.
struct NvmeSpec {
  std::string path;
  std::optional<BytesPerSecond> read;
  std::optional<BytesPerSecond> write;
  friend bool operator==(const NvmeSpec&, const NvmeSpec&) = default;
};

struct HostSpec {
  std::optional<int> cores;
  std::optional<Bytes> memory;
  std::optional<int> pcie_generation;
  friend bool operator==(const HostSpec&, const HostSpec&) = default;
};

// Exactly one of three forms: a named node (node, nodes), a described one (gpu, gpus_per_node, nodes, links),
// or this machine's processors (device = "cpu", ranks). Reading fills in gpus_per_node of a named node.
struct ClusterSpec {
  std::string node;  // name in assets/hardware
  int nodes = 1;
  std::string gpu;  // name in assets/hardware
  int gpus_per_node = 0;
  std::optional<IntraNodeLink> intra_node_link;   // absent: nvlink where the GPU has it
  std::optional<double> inter_node_gbps_per_gpu;  // Gbit/s, one direction
  HostSpec host;
  std::optional<DeviceKind> device;  // cpu, or absent
  int ranks = 0;
  int threads_per_rank = 1;
  std::string allocator_conf;  // the text of PYTORCH_ALLOC_CONF
  std::optional<Bytes> memory_limit;
  NvmeSpec nvme;
  SupposedHardware suppose;
  friend bool operator==(const ClusterSpec&, const ClusterSpec&) = default;
};

}  // namespace shardlab
