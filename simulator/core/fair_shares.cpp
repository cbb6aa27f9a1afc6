#include "simulator/core/fair_shares.h"

#include <algorithm>
#include <cmath>

namespace shardlab {
namespace {

// Rounds after which the speeds are taken as they are: feasible after each, better after every second.
constexpr int k_rounds = 7;

// What one that goes at this speed takes of a resource, rounded up, so that nothing is given away twice.
std::int64_t taken(const ResourceUses& uses, std::uint32_t resource, std::int64_t rate) {
  for (const ResourceUse& use : uses) {
    if (use.resource != resource) continue;
    return use.held ? use.share : (use.share * rate + k_full_share - 1) / k_full_share;
  }
  return 0;
}

bool any_scarce(std::span<const ResourceUses> running) {
  for (const ResourceUses& uses : running) {
    for (const ResourceUse& use : uses) {
      std::int64_t wanted = 0;
      for (const ResourceUses& other : running) wanted += taken(other, use.resource, k_full_share);
      if (wanted > k_full_share) return true;
    }
  }
  return false;
}

// What is left of a resource for one more when nobody may have more than it: the level y with
// y + sum of min(y, what the others take) = the whole. Sorts `others`.
std::int64_t level_beside(std::vector<std::int64_t>& others) {
  std::sort(others.begin(), others.end());
  std::int64_t left = k_full_share;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::int64_t level = left / static_cast<std::int64_t>(others.size() - i + 1);
    if (others[i] >= level) return level;
    left -= others[i];
  }
  return left;
}

// The speeds that the running would reach if the others went at `assumed`.
void rates_beside(std::span<const ResourceUses> running, const std::vector<std::int64_t>& assumed,
                  std::vector<std::int64_t>& others, std::vector<std::int64_t>& rates) {
  rates.assign(running.size(), k_full_share);
  for (std::size_t i = 0; i < running.size(); ++i) {
    for (const ResourceUse& use : running[i]) {
      others.clear();
      for (std::size_t j = 0; j < running.size(); ++j) {
        const std::int64_t wanted = j == i ? 0 : taken(running[j], use.resource, assumed[j]);
        if (wanted > 0) others.push_back(wanted);
      }
      rates[i] = std::min(rates[i], level_beside(others) * k_full_share / use.share);
    }
    rates[i] = std::max<std::int64_t>(rates[i], 1);
  }
}

}  // namespace

std::int64_t resource_share(double fraction) {
  const double share = std::round(fraction * static_cast<double>(k_full_share));
  return static_cast<std::int64_t>(std::clamp(share, 1.0, static_cast<double>(k_full_share)));
}

// Assuming too much of the others gives speeds that are possible, assuming those gives speeds beyond the
// possible, and so on: the even rounds close in on the fair ones from above, the odd ones from below.
void fair_rates(std::span<const ResourceUses> running, std::vector<std::int64_t>& rates) {
  rates.assign(running.size(), k_full_share);
  if (running.size() < 2 || !any_scarce(running)) return;
  std::vector<std::int64_t> assumed = rates;
  std::vector<std::int64_t> others;
  for (int round = 0; round < k_rounds; ++round) {
    assumed.swap(rates);
    rates_beside(running, assumed, others, rates);
    if (rates == assumed) return;
  }
}

}  // namespace shardlab
