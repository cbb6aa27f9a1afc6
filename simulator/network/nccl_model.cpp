#include "simulator/network/nccl_model.h"

#include <algorithm>
#include <cmath>

namespace shardlab {
namespace {

double floor_log2(double value) {
  return value >= 1 ? std::floor(std::log2(value)) : 0;
}

class Model {
 public:
  Model(const NcclTuning& tuning, const NcclGraph& graph, const GroupShape& shape, CollectiveKind kind)
      : tuning_(tuning), graph_(graph), shape_(shape), kind_(kind) {}

  NcclCandidate candidate(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    return {algorithm, protocol, latency(algorithm, protocol), bandwidth(algorithm, protocol)};
  }

 private:
  bool reduces_all() const { return kind_ == CollectiveKind::all_reduce; }
  bool scatters() const {
    return kind_ == CollectiveKind::all_gather || kind_ == CollectiveKind::reduce_scatter;
  }
  double steps_among(int members) const {
    if (reduces_all()) return 2.0 * (members - 1);
    return scatters() ? members - 1 : members;
  }
  double steps() const { return steps_among(shape_.ranks); }
  double steps_between() const { return shape_.nodes > 1 ? steps_among(shape_.nodes) : 0; }
  double ranks_of_node() const { return static_cast<double>(shape_.ranks) / shape_.nodes; }

  double ceiling(const NcclTuning::Ceilings& ceilings) const {
    return ceilings[index_of(graph_.generation)][column()];
  }
  std::size_t column() const { return static_cast<std::size_t>(std::min(shape_.nodes, 3) - 1); }
  // Between nodes the host decides, and the row of an Intel host is the first.
  double ll_ceiling() const {
    return tuning_.ll[shape_.nodes > 1 ? 0 : index_of(graph_.generation)][column()];
  }

  double channel_bandwidth() const {
    return shape_.nodes <= 2 ? graph_.inside_bandwidth : graph_.between_bandwidth;
  }

  double bandwidth(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    switch (algorithm) {
      case NcclAlgorithm::ring: return ring_bandwidth(protocol) * shape_.ranks / steps();
      case NcclAlgorithm::tree: return tree_bandwidth(protocol) * 0.5;
      case NcclAlgorithm::pat: return graph_.channels * channel_bandwidth() * tuning_.pat_factor;
      case NcclAlgorithm::nvls: return nvls_bandwidth() * (reduces_all() ? shape_.ranks / steps() : 1);
      case NcclAlgorithm::nvls_tree: return nvls_tree_bandwidth() * shape_.ranks / steps();
    }
    return 0;
  }

  double ring_bandwidth(NcclProtocol protocol) const {
    const double bus = graph_.channels * channel_bandwidth();
    if (protocol == NcclProtocol::ll) return std::min(ll_ceiling(), bus * tuning_.ring_ll_factor);
    if (protocol == NcclProtocol::ll128)
      return std::min(bus * tuning_.ll128_factor, graph_.channels * ceiling(tuning_.ring_ll128));
    return bus;
  }

  double tree_bandwidth(NcclProtocol protocol) const {
    const double bus = std::min(graph_.channels * channel_bandwidth() * tuning_.tree_factor,
                                graph_.channels * ceiling(tuning_.tree));
    if (protocol == NcclProtocol::ll) return std::min(bus / tuning_.tree_ll_divisor, ll_ceiling());
    if (protocol == NcclProtocol::simple) return bus;
    const double factor = shape_.nodes == 1 ? tuning_.tree_ll128_one_node : tuning_.tree_ll128_several_nodes;
    return std::min(bus * factor, graph_.channels * ceiling(tuning_.tree_ll128));
  }

  double nvls_bandwidth() const { return graph_.nvls_channels * nvls_channel_bandwidth(); }
  double nvls_channel_bandwidth() const {
    const double channels = graph_.nvls_channels;
    const double one = graph_.nvls_bandwidth * tuning_.nvls_efficiency[index_of(graph_.generation)] *
                       (channels - 1) / channels;
    return reduces_all() ? one * 2 : one * (ranks_of_node() - 1) / ranks_of_node();
  }
  double nvls_tree_bandwidth() const {
    const double between = graph_.between_bandwidth * (shape_.nodes <= 2 ? 2 : 1);
    return graph_.nvls_channels * std::min({nvls_channel_bandwidth(), between, ceiling(tuning_.nvls_tree)});
  }

  double latency(NcclAlgorithm algorithm, NcclProtocol protocol) const {
    const double base = tuning_.base[index_of(algorithm)][index_of(protocol)];
    const double inside =
        (graph_.inside == NcclWire::nvlink ? tuning_.nvlink
                                           : tuning_.pcie)[index_of(algorithm)][index_of(protocol)];
    const double network = tuning_.network[index_of(algorithm)][index_of(protocol)];
    const double doublings = floor_log2(shape_.nodes);
    switch (algorithm) {
      case NcclAlgorithm::ring: return base + ring_steps(inside, network, protocol);
      case NcclAlgorithm::tree: return base + 2 * ((ranks_of_node() - 1) * inside + doublings * network);
      case NcclAlgorithm::nvls: return inside + (shape_.nodes > 1 ? network : 0);
      case NcclAlgorithm::nvls_tree: return inside + 2 * doublings * network;
      case NcclAlgorithm::pat:
        return base + std::log2(static_cast<double>(shape_.nodes)) * network / tuning_.pat_latency_divisor +
               tuning_.pat_latency_of_a_rank * shape_.ranks;
    }
    return 0;
  }

  double ring_steps(double inside, double network, NcclProtocol protocol) const {
    const double overhead =
        shape_.nodes == 1 ? 0
                          : tuning_.network_overhead *
                                (protocol == NcclProtocol::simple ? tuning_.network_overhead_of_simple : 1);
    return (steps() - steps_between()) * std::max(inside, overhead) + steps_between() * network;
  }

  const NcclTuning& tuning_;
  const NcclGraph& graph_;
  const GroupShape& shape_;
  CollectiveKind kind_;
};

bool in_every_protocol(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::ring || algorithm == NcclAlgorithm::tree;
}

bool is_considered(NcclAlgorithm algorithm, const NcclGraph& graph, const GroupShape& shape,
                   CollectiveKind kind) {
  const bool reduces_all = kind == CollectiveKind::all_reduce;
  const bool scatters = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter;
  switch (algorithm) {
    case NcclAlgorithm::ring: return kind != CollectiveKind::all_to_all;
    case NcclAlgorithm::tree: return reduces_all;
    case NcclAlgorithm::nvls: return (reduces_all || scatters) && shape.nodes == 1 && graph.nvls_channels > 1;
    case NcclAlgorithm::nvls_tree: return reduces_all && shape.nodes > 1 && graph.nvls_channels > 1;
    case NcclAlgorithm::pat: return scatters && shape.nodes > 1 && shape.nodes == shape.ranks;
  }
  return false;
}

}  // namespace

std::vector<NcclCandidate> nccl_candidates(const NcclTuning& tuning, const NcclGraph& graph,
                                           const GroupShape& shape, CollectiveKind kind) {
  const Model model(tuning, graph, shape, kind);
  std::vector<NcclCandidate> candidates;
  for (const auto& algorithm : k_words<NcclAlgorithm>) {
    if (!is_considered(algorithm.value, graph, shape, kind)) continue;
    for (const auto& protocol : k_words<NcclProtocol>) {
      if (protocol.value != NcclProtocol::simple && !in_every_protocol(algorithm.value)) continue;
      const NcclCandidate candidate = model.candidate(algorithm.value, protocol.value);
      if (candidate.bandwidth > 0) candidates.push_back(candidate);
    }
  }
  return candidates;
}

double nccl_time_us(const NcclCandidate& candidate, const NcclTuning& tuning, const NcclGraph& graph,
                    const GroupShape& shape, CollectiveKind kind, Bytes bytes) {
  const auto size = static_cast<double>(bytes.value);
  double latency = candidate.latency_us;
  double bandwidth = candidate.bandwidth;
  if (candidate.algorithm == NcclAlgorithm::tree) {
    const auto place = static_cast<std::size_t>(floor_log2(size / 64));
    if (place < NcclTuning::k_tree_sizes)
      bandwidth *= tuning.tree_correction[index_of(candidate.protocol)][place];
  }
  const bool plateau = candidate.algorithm == NcclAlgorithm::ring &&
                       candidate.protocol == NcclProtocol::simple && kind == CollectiveKind::all_reduce &&
                       shape.nodes > 1 && size / (graph.channels * shape.ranks) >= tuning.plateau_bytes;
  if (plateau) latency *= tuning.plateau_latency;
  return latency + size / (1000 * bandwidth);
}

const NcclCandidate& nccl_choice(const std::vector<NcclCandidate>& candidates, const NcclTuning& tuning,
                                 const NcclGraph& graph, const GroupShape& shape, CollectiveKind kind,
                                 Bytes bytes) {
  const NcclCandidate* best = &candidates.front();
  double shortest = nccl_time_us(*best, tuning, graph, shape, kind, bytes);
  for (const NcclCandidate& candidate : candidates) {
    const double time = nccl_time_us(candidate, tuning, graph, shape, kind, bytes);
    if (time >= shortest) continue;
    best = &candidate;
    shortest = time;
  }
  return *best;
}

}  // namespace shardlab
