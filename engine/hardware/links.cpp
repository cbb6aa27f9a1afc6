#include "engine/hardware/links.h"

#include <algorithm>
#include <cmath>

namespace shardlab {
namespace {

// Rings have one phase where all_reduce has two, and need no reduction tree.
constexpr double k_ring_share_of_latency = 0.6;
constexpr double k_ring_share_of_root = 0.5;
// Several nodes, see the header.
constexpr double k_seconds_per_rank = 2.2e-6;
constexpr double k_ring_base_seconds = 25e-6;
constexpr double k_seconds_per_doubling = 98e-6;
constexpr double k_doublings_offset_seconds = -238e-6;

// Half of a collective's latency is its launch, the other half grows with the steps around the ring.
double latency_of(double measured, int ranks, int measured_ranks) {
  const double steps = static_cast<double>(std::max(ranks, 1) - 1) / std::max(measured_ranks - 1, 1);
  return measured * (0.5 + 0.5 * steps);
}

Links one_node(const LinkFigures& figures, int ranks) {
  Links links;
  links.all_reduce = figures.all_reduce;
  links.all_reduce.latency_seconds =
      latency_of(figures.all_reduce.latency_seconds, ranks, figures.measured_ranks);
  links.all_gather.latency_seconds = k_ring_share_of_latency * links.all_reduce.latency_seconds;
  links.all_gather.bandwidth = figures.ring;
  links.all_gather.seconds_per_sqrt_byte = k_ring_share_of_root * figures.all_reduce.seconds_per_sqrt_byte;
  links.reduce_scatter = links.all_gather;
  return links;
}

}  // namespace

Links estimate_links(const LinkFigures& figures, int ranks, int nodes) {
  if (figures.shared) return *figures.shared;
  if (ranks <= figures.switch_ranks) nodes = 1;
  Links links = one_node(figures, nodes > 1 ? std::max(1, ranks / nodes) : ranks);
  links.source = figures.source;
  links.estimated = figures.estimated;
  if (nodes <= 1) return links;

  const int ranks_of_node = std::max(1, ranks / nodes);
  const double network = figures.network_per_rank.value * figures.network_efficiency * ranks_of_node;
  const double ring = ranks_of_node > 1 ? std::min(figures.ring.value, network) : network;
  const double inside = links.all_reduce.latency_seconds;
  const double rings = k_ring_base_seconds + k_seconds_per_rank * ranks;
  const double doublings =
      k_doublings_offset_seconds + k_seconds_per_doubling * std::log2(static_cast<double>(ranks));
  links.all_gather = {std::max(rings, inside * k_ring_share_of_latency), {ring}, 0};
  links.reduce_scatter = links.all_gather;
  links.all_reduce = {std::max({doublings, k_ring_base_seconds, inside}), {network}, 0};
  // In-network reduction lets all_reduce pass the ring inside the node, not its own measured rate.
  if (ranks_of_node > 1)
    links.all_reduce.bandwidth.value = std::min(network, figures.all_reduce.bandwidth.value);
  links.estimated = true;
  links.source += "; between nodes by rule";
  return links;
}

}  // namespace shardlab
