#include "simulator/memory/overheads/nccl_buffers.h"

#include <algorithm>
#include <bit>

namespace shardlab {
namespace {

constexpr int k_steps = 8;           // NCCL_STEPS
constexpr int k_most_channels = 64;  // MAXCHANNELS
constexpr int k_most_searched = 8;   // across nodes: one a GPU of a node
constexpr int k_doubled_below = 16;  // from Hopper on, across nodes

int power_of_two_from(int value) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(value, 1))));
}

int divided_up(int a, int b) {
  return (a + b - 1) / b;
}

}  // namespace

// Device memory that other processes map comes in pieces of the granularity.
Bytes NcclBuffers::mapped(Bytes size) const {
  if (size.value == 0) return {};
  const std::int64_t piece = figures_.granularity.value;
  return {(size.value + piece - 1) / piece * piece};
}

Connection NcclBuffers::within_node() const {
  const NcclMemory& f = figures_;
  const Bytes low_latency = f.ll_buffer + f.ll128_buffer;
  if (device_.links == GpuLinks::host)  // in memory of the host that both map
    return {{{}, f.connection_header}, {{}, f.connection_header + low_latency + f.simple_buffer}};
  const bool reads = device_.links == GpuLinks::nvlink && device_.cuda_capability / 10 == 8;
  if (reads)
    return {{mapped(f.connection_header + f.simple_buffer), {}},
            {mapped(f.connection_header + low_latency), {}}};
  return {{mapped(f.connection_header), {}},
          {mapped(f.connection_header + low_latency + f.simple_buffer), {}}};
}

// The network writes to the device's memory itself (GPUDirect RDMA), but for protocol LL.
Connection NcclBuffers::across_nodes() const {
  const NcclMemory& f = figures_;
  const Bytes large = f.ll128_buffer + f.simple_buffer, small = f.ll_buffer + f.connection_header * 2;
  const NcclBytes end =
      device_.links == GpuLinks::host ? NcclBytes{{}, large + small} : NcclBytes{mapped(large), small};
  return {end, end};
}

bool NcclBuffers::has_nvls(const PlannedCommunicator& its) const {
  return device_.links == GpuLinks::nvlink && device_.cuda_capability >= 90 && its.ranks_per_node > 1;
}

int NcclBuffers::channels_across(const PlannedCommunicator& its) const {
  const int adapters = device_.adapters > 0 ? device_.adapters : device_.ranks_per_node;
  const int searched = std::max(1, std::min({adapters, its.ranks_per_node, k_most_searched}));
  const int channels = searched * figures_.channels_per_adapter;
  return device_.cuda_capability >= 90 && channels < k_doubled_below ? channels * 2 : channels;
}

int NcclBuffers::channels(const PlannedCommunicator& its) const {
  if (its.nodes > 1) return channels_across(its);
  if (device_.links != GpuLinks::nvlink) return figures_.channels_pcie;
  if (device_.cuda_capability >= 100) return figures_.channels_blackwell;
  if (device_.cuda_capability >= 90) return figures_.channels_hopper;
  return device_.cuda_capability >= 80 ? figures_.channels_ampere : figures_.channels_volta;
}

int NcclBuffers::nvls_channels() const {
  return device_.cuda_capability >= 100 ? figures_.nvls_channels_blackwell : figures_.nvls_channels_hopper;
}

// All channels over NVLink behind a switch; two over PCIe; four to a network adapter of 400 Gbit/s, which
// many peers share.
int NcclBuffers::channels_of_peers(const PlannedCommunicator& its) const {
  constexpr int k_pcie = 2, k_network = 4, k_peers_of_a_round = 8;
  const int all = std::min(power_of_two_from(channels(its)), k_most_channels);
  if (its.nodes == 1) return device_.links == GpuLinks::nvlink ? all : std::min(all, k_pcie);
  int each = k_network;
  while (each > 1 && each * divided_up(its.ranks, k_peers_of_a_round) > all) each /= 2;
  return each;
}

// Channels of which a rank is the one that the ring leaves its node by, and as many that it enters by.
int NcclBuffers::crossings(const PlannedCommunicator& its) const {
  return its.nodes > 1 ? divided_up(channels(its), its.ranks_per_node) : 0;
}

NcclBytes NcclBuffers::ring(const PlannedCommunicator& its) const {
  const Connection near = within_node(), far = across_nodes();
  const int all = channels(its), crossing = crossings(its);
  return near.both() * (all - crossing) + far.both() * crossing;
}

// A chain inside the node, both ways where the ring goes one way; between nodes a binary tree, with a parent
// and two children.
NcclBytes NcclBuffers::tree(const PlannedCommunicator& its) const {
  if (its.ranks <= 2) return {};
  const int all = channels(its);
  if (its.ranks_per_node > 1) return within_node().both() * all;
  return across_nodes().both() * (its.nodes > 3 ? 2 : 1) * all;
}

NcclBytes NcclBuffers::nvls(const PlannedCommunicator& its) const {
  if (!has_nvls(its)) return {};
  return {figures_.nvls_chunk * k_steps * 2 * nvls_channels() * its.ranks_per_node, {}};
}

NcclBytes NcclBuffers::shared(const PlannedCommunicator& its) const {
  const bool nvlink = its.nodes == 1 && device_.links == GpuLinks::nvlink;
  const Bytes chunk = nvlink ? figures_.chunk_nvlink : figures_.chunk_other;
  const int all = std::min(power_of_two_from(channels(its)), k_most_channels);
  return {chunk * figures_.shared_steps * all, {}};
}

NcclBytes NcclBuffers::all_to_all(const PlannedCommunicator& its) const {
  const int each = channels_of_peers(its);
  const NcclBytes near = within_node().both() * (its.ranks_per_node - 1) * each;
  return its.nodes > 1 ? near + shared(its) * 2 : near;
}

}  // namespace shardlab
