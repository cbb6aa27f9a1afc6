// What is known of the wires between ranks. The times of collectives over those of GPUs are
// simulator/network's; on one wire that all ranks share (a CPU's loopback):
//
//   t = latency + S * f / bandwidth + per_sqrt_byte * sqrt(S)
//
// S: the payload (the full side) in bytes, f: the bus factor of the collective.
#pragma once

#include <optional>

#include "engine/base/units.h"

namespace shardlab {

struct CollectiveCoefficients {
  double latency_seconds = 0;
  BytesPerSecond bandwidth;  // bus bandwidth
  double seconds_per_sqrt_byte = 0;
  friend bool operator==(const CollectiveCoefficients&, const CollectiveCoefficients&) = default;
};

// The collectives of ranks that share one wire.
struct Links {
  CollectiveCoefficients all_gather;
  CollectiveCoefficients reduce_scatter;
  CollectiveCoefficients all_reduce;
  friend bool operator==(const Links&, const Links&) = default;
};

// What is known of a GPU's and a node's wires.
struct LinkFigures {
  BytesPerSecond ring;              // bus bandwidth of a ring inside a node
  BytesPerSecond network_per_rank;  // of the network between nodes, one direction; 0: there is none
  double network_efficiency = 0;    // attained share of it in a ring
  double network_latency_seconds =
      0;                 // that the fabric adds to every collective over it, beside InfiniBand's
  int switch_ranks = 0;  // ranks that one NVLink switch joins across nodes; 0: those of a node
  std::optional<Links>
      shared;  // all ranks share one wire (a CPU's loopback): these, whatever the shape of the group
};

}  // namespace shardlab
