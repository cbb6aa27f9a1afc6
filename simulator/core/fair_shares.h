// How fast work runs that draws on the same resources at the same time.
//
// A resource has a capacity (multiprocessors of a device, bytes a second of its memory or of a wire). Work
// that runs alone at full speed takes some share of it; shares are of the capacity, 2^20 the whole. Where all
// that run want more than there is, the resource is divided max-min: who wants less than an equal part gets
// what it wants, the others divide the rest evenly. So a ring that holds 24 of 132 multiprocessors keeps
// them, and a product beside it has 108. Work goes as fast as the scarcest of its resources lets it, and
// then takes less of the others, which others may have: "bottleneck max fairness" (Bonald and Roberts,
// Multi-resource fairness: objectives, algorithms and performance, SIGMETRICS 2015).
//
// Integers throughout: the same on every machine. Pure; the cost is cubic in how much runs at the same time,
// a handful.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shardlab {

inline constexpr std::int64_t k_full_share = 1 << 20;

struct ResourceUse {
  std::uint32_t resource = 0;
  std::int64_t share = 0;  // of the capacity, while it runs at full speed; 1 to k_full_share
  bool held = false;  // it is taken as long as it runs, however slowly: a kernel's multiprocessors, not bytes
  friend bool operator==(const ResourceUse&, const ResourceUse&) = default;
};

// The uses of one that runs: each resource once at most.
using ResourceUses = std::span<const ResourceUse>;

// The share nearest to a fraction of the capacity, at least the smallest and at most all.
std::int64_t resource_share(double fraction);

// The speed of each of `running`, k_full_share the speed alone, at least 1. No resource is given away twice:
// of each, the speeds times the shares add up to the whole at most. Replaces `rates`.
void fair_rates(std::span<const ResourceUses> running, std::vector<std::int64_t>& rates);

}  // namespace shardlab
