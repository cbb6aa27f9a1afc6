// How many scores of causal attention count. Private to this folder.
#pragma once

#include <cstdint>

namespace shardlab {

// Twice the pairs of a query and a key it sees, counting the diagonal as half: an exact half of s^2 without
// a window.
inline std::int64_t twice_the_pairs(std::int64_t sequence, std::int64_t window) {
  if (window == 0 || window >= sequence) return sequence * sequence;
  return 2 * window * sequence - window * window;
}

}  // namespace shardlab
