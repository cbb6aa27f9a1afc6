#include "engine/hardware/supposed.h"

#include <cmath>

#include "engine/hardware/device.h"

namespace shardlab {
namespace {

// NCCL chooses by what it finds when it searches the links, so that is as many times faster as they are; its
// protocols keep their ceilings.
void multiply_links(double factor, Device& device) {
  device.wires.ring.value *= factor;
  for (NcclSearchedGraph& graph : device.network.nccl.graphs) {
    graph.bandwidth *= factor;
    graph.nvls_bandwidth *= factor;
  }
}

}  // namespace

void suppose(const SupposedHardware& factors, Device& device) {
  device.supposed = factors;
  device.memory = Bytes{std::llround(static_cast<double>(device.memory.value) * factors.memory)};
  device.wires.network_per_rank.value *= factors.inter_node;
  multiply_links(factors.intra_node, device);
}

bool has_supposed_wires(const Device& device) {
  return device.supposed.inter_node != 1 || device.supposed.intra_node != 1;
}

Device with_described_wires(Device device) {
  device.wires.network_per_rank.value /= device.supposed.inter_node;
  multiply_links(1 / device.supposed.intra_node, device);
  device.supposed.inter_node = device.supposed.intra_node = 1;
  return device;
}

}  // namespace shardlab
