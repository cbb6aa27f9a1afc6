#include "simulator/search/nearest_misses.h"

#include <algorithm>

#include "simulator/search/leaders.h"

namespace shardlab {
namespace {

constexpr std::size_t k_nearest = 5;

}  // namespace

void add_near(const Candidate& candidate, std::vector<Candidate>& nearest) {
  const auto before = [](const Candidate& a, const Candidate& b) {
    if (a.worst_miss() != b.worst_miss()) return a.worst_miss() < b.worst_miss();
    return nearer_to_defaults(a.configuration, b.configuration);
  };
  nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), candidate, before), candidate);
  if (nearest.size() > k_nearest) nearest.pop_back();
}

bool is_farther(double least_miss, const std::vector<Candidate>& nearest) {
  return nearest.size() == k_nearest && least_miss > nearest.back().worst_miss();
}

}  // namespace shardlab
