// NCCL's own model of what a collective takes, by which it chooses algorithm and protocol.
//
//   time = latency * f + bytes / (bandwidth * g)
//
// with the latencies and bandwidths of release 2.30.7 (src/graph/tuning.cc, src/tuning/*.cc; the constants
// are assets/network/nccl.yaml) and f, g the corrections for sizes that they have there. It ranks: what a
// collective takes is transfer_time.h.
#pragma once

#include <vector>

#include "engine/base/units.h"
#include "simulator/network/collective_kind.h"
#include "simulator/network/nccl_graph.h"

namespace shardlab {

// One way to run a collective.
struct NcclCandidate {
  NcclAlgorithm algorithm = NcclAlgorithm::ring;
  NcclProtocol protocol = NcclProtocol::simple;
  double latency_us = 0;
  double bandwidth = 0;  // of the algorithm: payload over time, in 1e9 bytes a second
};

// All that NCCL considers for a kind: rings always; trees for all-reduces; NVLS and, between nodes, trees of
// it, where switches reduce; PAT for gathers and scatters of one GPU a node. NCCL's own ring for all-to-all,
// which is made of sends and receives, is none: an empty list.
std::vector<NcclCandidate> nccl_candidates(const NcclTuning& tuning, const NcclGraph& graph,
                                           const GroupShape& shape, CollectiveKind kind);

// By NCCL's own estimate, in microseconds.
double nccl_time_us(const NcclCandidate& candidate, const NcclTuning& tuning, const NcclGraph& graph,
                    const GroupShape& shape, CollectiveKind kind, Bytes bytes);

// The one with the shortest time. `candidates` is not empty.
const NcclCandidate& nccl_choice(const std::vector<NcclCandidate>& candidates, const NcclTuning& tuning,
                                 const NcclGraph& graph, const GroupShape& shape, CollectiveKind kind,
                                 Bytes bytes);

}  // namespace shardlab
