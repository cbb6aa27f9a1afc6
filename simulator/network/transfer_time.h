// What a collective of a group takes, from the last member's arrival to its end.
//
// On one node, with algorithm and protocol as NCCL chooses them (nccl_model.h):
//
//   t = launch + latency + S / (b * e) + fill * sqrt(p * S / b)
//
// S: bytes of the full side; latency and b: of NCCL's tables, b scaled to the ring that the GPU is measured
// to have; launch, e and fill: fitted to published tables of nccl-tests (assets/network/collectives.yaml); p:
// the phases of a ring, two for an all-reduce. The root is the filling of a pipeline whose chunks grow with
// the message; protocol LL has none.
//
// Between nodes NCCL's latencies are two to three times what all-reduces show, and trees pipeline:
//
//   all-reduce  t = launch + fabric + latency(tree, LL) + d * log2(nodes) * min(1, sqrt(S / S0)) + S * f / B
//   others      t = launch + fabric + latency(ring, LL128 or PAT) + S * f / B
//
// f: bus factor. B: the slower of the group's rails (ranks on its smallest node times their share of the
// network) and the wires inside. fabric: what an adapter adds (node's file). d, S0: see collectives.yaml.
//
// All to all is sends and receives: what leaves a node goes over the rank's own share of the network, the
// rest over the links inside, both at the same time.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "simulator/network/nccl_model.h"

namespace shardlab {

struct TransferTime {
  double launch_us = 0;
  double latency_us = 0;   // in NCCL's tables, or of the peers of an all-to-all
  double waits_us = 0;     // between nodes: the fabric's, and the doublings of an all-reduce
  double transfer_us = 0;  // bytes over bandwidth
  double fill_us = 0;
  double total_us() const { return launch_us + latency_us + waits_us + transfer_us + fill_us; }

  std::optional<NcclCandidate> choice;  // none for an all-to-all
  int channels = 0;                     // each a thread block, on a multiprocessor of its own
  int most_channels = 0;                // that a message of any size has over these wires
  double bandwidth = 0;                 // of the transfer: payload over time, in 1e9 bytes a second
  // What each rank sends over either wire; where ranks are unlike, the one that sends the most.
  double link_bytes = 0;
  double network_bytes = 0;
};

// What connects the GPUs of one group. A value; holds no reference to the device.
class GroupNetwork {
 public:
  GroupNetwork(const Device& device, const GroupShape& shape);

  // Zero for a group of one.
  TransferTime time(CollectiveKind kind, Bytes bytes) const;

  // No message takes less for each of its bytes: a bound.
  double least_ns_per_byte(CollectiveKind kind) const;

  const GroupShape& shape() const { return shape_; }
  const NcclGraph& graph() const { return graph_; }

 private:
  const std::vector<NcclCandidate>& candidates(CollectiveKind kind) const {
    return candidates_[static_cast<std::size_t>(kind)];
  }
  TransferTime on_one_node(CollectiveKind kind, Bytes bytes, const NcclCandidate& choice) const;
  TransferTime between_nodes(CollectiveKind kind, Bytes bytes, const NcclCandidate& choice) const;
  TransferTime all_to_all(Bytes bytes) const;
  double bandwidth_of(CollectiveKind kind, const NcclCandidate& choice) const;
  double part_inside() const;  // of what a rank sends, over the links inside a node
  double latency_between(CollectiveKind kind, const NcclCandidate& choice) const;
  double bus_between(CollectiveKind kind) const;
  int channels_of(const NcclCandidate& choice, Bytes bytes) const;

  GroupShape shape_;
  NetworkFigures figures_;
  NcclGraph graph_;
  std::array<std::vector<NcclCandidate>, k_collective_kinds> candidates_;
  double ring_ = 0;          // 1e9 bytes a second, of a ring inside a node
  double switched_ = 0;      // of an all-reduce by the switch inside a node; 0 without
  double ring_scale_ = 1;    // what the ring is of what NCCL's graph adds up to
  double rail_ = 0;          // of one rank's share of the network
  double fabric_us_ = 0;     // what the network adds to every collective over it
  int ring_channels_ = 1;    // that a ring kernel runs, at most
  int switch_channels_ = 1;  // likewise of NVLS
};

}  // namespace shardlab
