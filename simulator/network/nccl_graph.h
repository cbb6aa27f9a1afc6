// The channels that NCCL lays over a group's wires.
#pragma once

#include "engine/hardware/device.h"
#include "simulator/network/group_shape.h"

namespace shardlab {

enum class NcclWire : std::uint8_t { nvlink, pcie };

// Bandwidths in 1e9 bytes a second, of a channel.
struct NcclGraph {
  NcclGeneration generation = NcclGeneration::ampere;
  NcclWire inside = NcclWire::nvlink;
  int channels = 1;
  double inside_bandwidth = 0;
  double between_bandwidth = 0;  // nodes; 0 on one node
  int nvls_channels = 0;         // 0: no reduction in the switch
  double nvls_bandwidth = 0;
};

// In place of NCCL's search (src/graph/search.cc) over a topology that nobody describes here: on one node
// what the search finds on the machines that NVIDIA sells, elsewhere as many channels at a bandwidth that add
// up to the ring; over several nodes a channel for each adapter that the group's ranks of a node have.
NcclGraph graph_of(const Device& device, const GroupShape& shape);

// The generation of a GPU: NVIDIA's go by compute capability, others by Ampere's, which has no reduction in
// the switch.
NcclGeneration generation_of(const Device& device);

}  // namespace shardlab
