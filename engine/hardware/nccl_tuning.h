// The constants by which NCCL chooses how to run a collective: assets/network/nccl.yaml, as its release
// 2.30.7 has them. Latencies in microseconds, bandwidths in 1e9 bytes a second, as there.
//
// Constants only; how they go together is simulator/network/nccl_model.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/result.h"
#include "engine/base/words.h"

namespace shardlab {

enum class NcclAlgorithm : std::uint8_t { tree, ring, nvls, nvls_tree, pat };
template <>
inline constexpr auto k_words<NcclAlgorithm> =
    std::to_array<Word<NcclAlgorithm>>({{NcclAlgorithm::tree, "tree"},
                                        {NcclAlgorithm::ring, "ring"},
                                        {NcclAlgorithm::nvls, "nvls"},
                                        {NcclAlgorithm::nvls_tree, "nvls_tree"},
                                        {NcclAlgorithm::pat, "pat"}});

enum class NcclProtocol : std::uint8_t { ll, ll128, simple };
template <>
inline constexpr auto k_words<NcclProtocol> = std::to_array<Word<NcclProtocol>>(
    {{NcclProtocol::ll, "ll"}, {NcclProtocol::ll128, "ll128"}, {NcclProtocol::simple, "simple"}});

// Whose figures a GPU goes by.
enum class NcclGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
template <>
inline constexpr auto k_words<NcclGeneration> =
    std::to_array<Word<NcclGeneration>>({{NcclGeneration::volta, "volta"},
                                         {NcclGeneration::ampere, "ampere"},
                                         {NcclGeneration::hopper, "hopper"},
                                         {NcclGeneration::blackwell, "blackwell"}});

inline constexpr std::size_t k_nccl_algorithms = k_words<NcclAlgorithm>.size();
inline constexpr std::size_t k_nccl_protocols = k_words<NcclProtocol>.size();
inline constexpr std::size_t k_nccl_generations = k_words<NcclGeneration>.size();

// The place of an enumerator in tables by algorithm, protocol, generation ...
constexpr std::size_t index_of(auto value) {
  return static_cast<std::size_t>(value);
}

// What NCCL's search finds among GPUs behind a switch. Zeros: nothing is known, or there is no NVLS.
struct NcclSearchedGraph {
  int channels = 0;
  double bandwidth = 0;  // of a channel
  int nvls_channels = 0;
  double nvls_bandwidth = 0;
};

struct NcclTuning {
  using ByProtocol = std::array<double, k_nccl_protocols>;
  using Latencies = std::array<ByProtocol, k_nccl_algorithms>;
  using ByNodes = std::array<double, 3>;  // one, two, more
  using Ceilings = std::array<ByNodes, k_nccl_generations>;

  Latencies base, nvlink, pcie, network;
  Ceilings ll, ring_ll128, tree_ll128, tree, nvls_tree;
  std::array<double, k_nccl_generations> nvls_efficiency{};
  std::array<NcclSearchedGraph, k_nccl_generations> graphs;

  double ring_ll_factor = 0, ll128_factor = 0, tree_factor = 0, tree_ll_divisor = 0;
  double tree_ll128_one_node = 0, tree_ll128_several_nodes = 0;
  double pat_factor = 0, pat_latency_divisor = 0, pat_latency_of_a_rank = 0;
  double network_overhead = 0, network_overhead_of_simple = 0;
  double plateau_latency = 0, plateau_bytes = 0;
  double adapter_share = 0;

  static constexpr std::size_t k_tree_sizes = 23;
  std::array<std::array<double, k_tree_sizes>, k_nccl_protocols> tree_correction{};  // from 64 B, doubling
  ByProtocol threads{}, bytes_of_a_thread{};
};

// Errors: a file that is missing or malformed.
Result<NcclTuning> read_nccl_tuning();

}  // namespace shardlab
