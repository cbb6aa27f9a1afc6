#include "simulator/network/transfer_time.h"

#include <algorithm>
#include <cmath>

namespace shardlab {
namespace {

bool by_switch(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}

const NcclCandidate* find(const std::vector<NcclCandidate>& candidates, NcclAlgorithm algorithm,
                          NcclProtocol protocol) {
  for (const NcclCandidate& candidate : candidates) {
    if (candidate.algorithm == algorithm && candidate.protocol == protocol) return &candidate;
  }
  return nullptr;
}

// How many channels the kernels run with; on Hopper and later NCCL makes twice as many as it searched.
int channels_of_ring(const Device& device, const NcclGraph& graph, const GroupShape& shape) {
  const NcclMemory& nccl = device.runtime.nccl;
  if (shape.nodes > 1) return graph.channels * std::max(nccl.channels_per_adapter, 1);
  if (graph.inside == NcclWire::pcie) return graph.channels;
  switch (graph.generation) {
    case NcclGeneration::volta: return nccl.channels_volta;
    case NcclGeneration::ampere: return nccl.channels_ampere;
    case NcclGeneration::hopper: return nccl.channels_hopper;
    case NcclGeneration::blackwell: return nccl.channels_blackwell;
  }
  return graph.channels;
}

// What the switch reduces inside a node, as a bus bandwidth; 0 where none does.
double switched_bandwidth(const Device& device, const NcclGraph& graph, int ranks) {
  const GroupShape node{ranks, 1, ranks};
  const NcclGraph inside = graph_of(device, node);
  const auto candidates = nccl_candidates(device.network.nccl, inside, node, CollectiveKind::all_reduce);
  const NcclCandidate* const nvls = find(candidates, NcclAlgorithm::nvls, NcclProtocol::simple);
  if (nvls == nullptr) return 0;
  return nvls->bandwidth * bus_factor(CollectiveKind::all_reduce, ranks) *
         device.network.collectives.nvls_efficiency[index_of(graph.generation)];
}

}  // namespace

GroupNetwork::GroupNetwork(const Device& device, const GroupShape& shape)
    : shape_(shape), figures_(device.network), graph_(graph_of(device, shape)) {
  for (const auto& kind : k_words<CollectiveKind>) {
    if (shape.ranks > 1)
      candidates_[index_of(kind.value)] = nccl_candidates(figures_.nccl, graph_, shape, kind.value);
  }
  ring_ = std::max(device.wires.ring.value / 1e9, 1e-3);
  const double bus = graph_.channels * graph_.inside_bandwidth;
  if (shape.nodes == 1 && bus > 0) ring_scale_ = ring_ / bus;
  rail_ = std::max(device.wires.network_per_rank.value * device.wires.network_efficiency / 1e9, 1e-3);
  fabric_us_ = device.wires.network_latency_seconds * 1e6;
  if (shape.nodes > 1 && shape.fewest > 1) switched_ = switched_bandwidth(device, graph_, shape.fewest);
  ring_channels_ = std::max(channels_of_ring(device, graph_, shape), 1);
  switch_channels_ = graph_.generation == NcclGeneration::blackwell
                         ? device.runtime.nccl.nvls_channels_blackwell
                         : device.runtime.nccl.nvls_channels_hopper;
}

TransferTime GroupNetwork::time(CollectiveKind kind, Bytes bytes) const {
  if (shape_.ranks <= 1) return {};
  if (kind == CollectiveKind::all_to_all) return all_to_all(bytes);
  const NcclCandidate& choice = nccl_choice(candidates(kind), figures_.nccl, graph_, shape_, kind, bytes);
  TransferTime time =
      shape_.nodes == 1 ? on_one_node(kind, bytes, choice) : between_nodes(kind, bytes, choice);
  const auto size = static_cast<double>(bytes.value);
  time.choice = choice;
  time.launch_us = figures_.collectives.launch_us[index_of(graph_.generation)];
  time.channels = channels_of(choice, bytes);
  time.most_channels = std::max(ring_channels_, time.channels);
  time.link_bytes = size * bus_factor(kind, shape_.ranks) * part_inside();
  return time;
}

// One hop in so many of a ring leaves the node.
double GroupNetwork::part_inside() const {
  return shape_.nodes == 1 ? 1 : (shape_.fewest - 1.0) / shape_.fewest;
}

TransferTime GroupNetwork::on_one_node(CollectiveKind kind, Bytes bytes, const NcclCandidate& choice) const {
  const CollectiveFigures& figures = figures_.collectives;
  const auto size = static_cast<double>(bytes.value);
  TransferTime time;
  time.latency_us = choice.latency_us;
  time.bandwidth = bandwidth_of(kind, choice);
  time.transfer_us = size / (1000 * time.bandwidth);
  if (choice.protocol == NcclProtocol::ll) return time;
  if (by_switch(choice.algorithm)) {
    time.fill_us =
        figures.nvls_fill_us[index_of(graph_.generation)] * std::sqrt(size / (1000 * choice.bandwidth));
  } else {
    const double bare_us = size / (1000 * choice.bandwidth * ring_scale_);
    time.fill_us = figures.ring_fill_us * std::sqrt(phases_of(kind) * bare_us);
  }
  return time;
}

TransferTime GroupNetwork::between_nodes(CollectiveKind kind, Bytes bytes,
                                         const NcclCandidate& choice) const {
  const CollectiveFigures& figures = figures_.collectives;
  const auto size = static_cast<double>(bytes.value);
  TransferTime time;
  time.latency_us = latency_between(kind, choice);
  time.waits_us = fabric_us_;
  if (kind == CollectiveKind::all_reduce && choice.protocol != NcclProtocol::ll) {
    const double grown = std::sqrt(size / static_cast<double>(figures.doubling_from.value));
    time.waits_us +=
        figures.doubling_us * std::log2(static_cast<double>(shape_.nodes)) * std::min(1.0, grown);
  }
  time.bandwidth = bandwidth_of(kind, choice);
  time.transfer_us = size / (1000 * time.bandwidth);
  const double outside = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce
                             ? 1
                             : phases_of(kind) * (shape_.nodes - 1.0) / shape_.nodes;
  time.network_bytes = size * outside / shape_.fewest;
  return time;
}

double GroupNetwork::latency_between(CollectiveKind kind, const NcclCandidate& choice) const {
  if (choice.protocol == NcclProtocol::ll || choice.algorithm == NcclAlgorithm::pat) return choice.latency_us;
  const NcclCandidate* const quick = kind == CollectiveKind::all_reduce
                                         ? find(candidates(kind), NcclAlgorithm::tree, NcclProtocol::ll)
                                         : find(candidates(kind), NcclAlgorithm::ring, NcclProtocol::ll128);
  return quick != nullptr ? quick->latency_us : choice.latency_us;
}

double GroupNetwork::bus_between(CollectiveKind kind) const {
  const double rails = rail_ * shape_.fewest;
  if (shape_.fewest <= 1) return rails;
  const double inside = kind == CollectiveKind::all_reduce ? std::max(switched_, ring_) : ring_;
  return std::min(rails, inside);
}

double GroupNetwork::bandwidth_of(CollectiveKind kind, const NcclCandidate& choice) const {
  const CollectiveFigures& figures = figures_.collectives;
  const bool quick = choice.protocol == NcclProtocol::ll;
  if (shape_.nodes == 1) {
    if (quick) return choice.bandwidth;
    return by_switch(choice.algorithm)
               ? choice.bandwidth * figures.nvls_efficiency[index_of(graph_.generation)]
               : choice.bandwidth * ring_scale_ * figures.ring_efficiency;
  }
  const double most = bus_between(kind) / bus_factor(kind, shape_.ranks);
  if (quick) return std::min(most, choice.bandwidth);
  return choice.algorithm == NcclAlgorithm::pat ? most * figures_.nccl.pat_factor : most;
}

// Each rank sends every other its part: those of its node over the links inside, the others over its own
// share of the network.
TransferTime GroupNetwork::all_to_all(Bytes bytes) const {
  const CollectiveFigures& figures = figures_.collectives;
  const double part = static_cast<double>(bytes.value) / shape_.ranks;
  const double near = shape_.nodes == 1 ? shape_.ranks : shape_.fewest;
  TransferTime time;
  time.launch_us = figures.launch_us[index_of(graph_.generation)];
  time.latency_us = figures.peer_us * (shape_.ranks - 1);
  time.waits_us = shape_.nodes > 1 ? fabric_us_ : 0;
  time.link_bytes = part * (near - 1);
  time.network_bytes = part * (shape_.ranks - near);
  time.transfer_us = std::max(time.link_bytes / (1000 * ring_ * figures.all_to_all_efficiency),
                              time.network_bytes / (1000 * rail_));
  time.bandwidth = time.transfer_us > 0 ? static_cast<double>(bytes.value) / (1000 * time.transfer_us) : 0;
  time.channels = time.most_channels = ring_channels_;
  return time;
}

double GroupNetwork::least_ns_per_byte(CollectiveKind kind) const {
  if (shape_.ranks <= 1) return 0;
  if (kind == CollectiveKind::all_to_all) return all_to_all({1'000'000'000}).transfer_us * 1e-6;
  double fastest = 0;
  for (const NcclCandidate& candidate : candidates(kind))
    fastest = std::max(fastest, bandwidth_of(kind, candidate));
  return 1 / fastest;
}

// Fewer while each of a channel's threads would have less than its share of bytes (src/enqueue.cc); a ring in
// protocol LL counts the bytes of each rank.
int GroupNetwork::channels_of(const NcclCandidate& choice, Bytes bytes) const {
  if (by_switch(choice.algorithm)) return switch_channels_;
  const std::size_t protocol = index_of(choice.protocol);
  double needed = figures_.nccl.threads[protocol] * figures_.nccl.bytes_of_a_thread[protocol];
  if (choice.algorithm == NcclAlgorithm::ring && choice.protocol == NcclProtocol::ll) needed *= shape_.ranks;
  const double busy = static_cast<double>(bytes.value) / std::max(needed, 1.0);
  return static_cast<int>(std::clamp(busy, 1.0, static_cast<double>(ring_channels_)));
}

}  // namespace shardlab
