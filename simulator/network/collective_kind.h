// What a group can be asked to do together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/words.h"

namespace shardlab {

enum class CollectiveKind : std::uint8_t {
  all_gather,
  reduce_scatter,
  all_reduce,
  broadcast,
  reduce,
  all_to_all
};
template <>
inline constexpr auto k_words<CollectiveKind> =
    std::to_array<Word<CollectiveKind>>({{CollectiveKind::all_gather, "all-gather"},
                                         {CollectiveKind::reduce_scatter, "reduce-scatter"},
                                         {CollectiveKind::all_reduce, "all-reduce"},
                                         {CollectiveKind::broadcast, "broadcast"},
                                         {CollectiveKind::reduce, "reduction"},
                                         {CollectiveKind::all_to_all, "all-to-all"}});
inline constexpr std::size_t k_collective_kinds = k_words<CollectiveKind>.size();

// Passes over the ring: an all-reduce scatters sums and gathers them.
constexpr int phases_of(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce ? 2 : 1;
}

// The share of the payload that each link carries, the bus factor of nccl-tests (doc/PERFORMANCE.md):
// (n-1)/n, twice that for an all-reduce, 1 for broadcast and reduce; 0 for a group of one.
constexpr double bus_factor(CollectiveKind kind, int ranks) {
  if (ranks <= 1) return 0;
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return 1;
  return phases_of(kind) * (ranks - 1.0) / ranks;
}

}  // namespace shardlab
