// The time of a collective between ranks:  t = latency + S * f / bandwidth + per_sqrt_byte * sqrt(S)
//
// S is the payload (the full side) in bytes, f the bus factor of the collective over n ranks: (n - 1) / n for
// all_gather and reduce_scatter, twice that for all_reduce. The square root stands for the filling of the
// pipeline. The form and the fitted figures come from published nccl-tests tables; rules for what nobody
// measured are estimates and marked so.
#pragma once

#include <optional>
#include <string>

#include "engine/base/units.h"

namespace shardlab {

struct CollectiveCoefficients {
  double latency_seconds = 0;
  BytesPerSecond bandwidth;  // bus bandwidth
  double seconds_per_sqrt_byte = 0;
  friend bool operator==(const CollectiveCoefficients&, const CollectiveCoefficients&) = default;
};

// The collectives of one kind of group.
struct Links {
  CollectiveCoefficients all_gather;
  CollectiveCoefficients reduce_scatter;
  CollectiveCoefficients all_reduce;
  std::string source;      // where the figures come from, for people
  bool estimated = false;  // from a rule, not from a measured table
  friend bool operator==(const Links&, const Links&) = default;
};

// What is known of a GPU's and a node's wires.
struct LinkFigures {
  BytesPerSecond ring;  // bus bandwidth of a ring inside a node
  CollectiveCoefficients
      all_reduce;  // inside a node of `measured_ranks`; may use in-network reduction, unlike the rings
  int measured_ranks = 8;
  std::string source;
  bool estimated = true;
  BytesPerSecond network_per_rank;  // of the network between nodes, one direction; 0: there is none
  double network_efficiency = 0;    // attained share of it in a ring
  int switch_ranks = 0;             // ranks that one NVLink switch joins across nodes; 0: those of a node
  std::optional<Links>
      shared;  // all ranks share one wire (a CPU's loopback): these, whatever the shape of the group
};

// A group of `ranks` that lie on `nodes` nodes (as many on each). Ranks of one node: rings at the ring
// bandwidth with latency proportional to their steps, all_reduce as measured. Several nodes: the slower of
// the ring and the network, with a latency that grows linearly in ranks for rings (2.2 us a rank, from NCCL's
// tuning model) and with the logarithm for all_reduce (98 us a doubling, fitted to the 64 MiB measurements on
// 4 to 128 H100 nodes in arXiv 2411.13055).
Links estimate_links(const LinkFigures& figures, int ranks, int nodes);

}  // namespace shardlab
