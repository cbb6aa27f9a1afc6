#include "simulator/network/nccl_graph.h"

#include <algorithm>

namespace shardlab {
namespace {

// NVLS needs peers beyond the one that a ring reaches as well.
constexpr int k_fewest_for_nvls = 3;

int channels_on_pcie(const Device& device) {
  return std::max(device.runtime.nccl.channels_pcie, 1);
}

NcclGraph graph_of_node(const Device& device, const GroupShape& shape) {
  const NcclTuning& tuning = device.network.nccl;
  NcclGraph graph;
  graph.generation = generation_of(device);
  const double ring = device.wires.ring.value / 1e9;
  if (device.links != GpuLinks::nvlink) {
    graph.inside = NcclWire::pcie;
    graph.channels = channels_on_pcie(device);
    graph.inside_bandwidth = ring / graph.channels;
    return graph;
  }
  const bool by_nvidia = device.cuda_capability > 0;
  const NcclSearchedGraph& searched = tuning.graphs[static_cast<std::size_t>(graph.generation)];
  if (!by_nvidia || searched.channels == 0) {
    graph.channels = std::max(device.runtime.nccl.channels_volta, 1);
    graph.inside_bandwidth = ring / graph.channels;
    return graph;
  }
  graph.channels = searched.channels;
  graph.inside_bandwidth = searched.bandwidth;
  if (shape.fewest >= k_fewest_for_nvls) {
    graph.nvls_channels = searched.nvls_channels;
    graph.nvls_bandwidth = searched.nvls_bandwidth;
  }
  return graph;
}

// Adapters of a node that the group's ranks there use.
int adapters_of(const Device& device, const GroupShape& shape) {
  const int all = device.adapters > 0 ? device.adapters : device.ranks_per_node;
  const int fair = (all * shape.fewest + device.ranks_per_node - 1) / std::max(device.ranks_per_node, 1);
  return std::clamp(fair, 1, shape.fewest);
}

}  // namespace

NcclGeneration generation_of(const Device& device) {
  const int capability = device.cuda_capability;
  if (capability >= 100) return NcclGeneration::blackwell;
  if (capability >= 90) return NcclGeneration::hopper;
  return capability >= 80 || capability == 0 ? NcclGeneration::ampere : NcclGeneration::volta;
}

NcclGraph graph_of(const Device& device, const GroupShape& shape) {
  NcclGraph graph = graph_of_node(device, shape);
  if (shape.nodes <= 1) return graph;
  const double inside = graph.channels * graph.inside_bandwidth;
  const double between =
      device.wires.network_per_rank.value / 1e9 * shape.fewest * device.network.nccl.adapter_share;
  graph.channels = adapters_of(device, shape);
  graph.between_bandwidth = std::min(between, inside) / graph.channels;
  graph.inside_bandwidth = graph.between_bandwidth;
  graph.nvls_channels = graph.nvls_channels > 0 ? graph.channels : 0;
  return graph;
}

}  // namespace shardlab
