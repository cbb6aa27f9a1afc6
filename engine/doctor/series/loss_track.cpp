#include "engine/doctor/series/loss_track.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardlab {
namespace {

constexpr std::size_t k_in_a_row = 4;
constexpr std::int64_t k_least_losses = 8;
constexpr double k_above = 1.3, k_above_first = 2;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void LossTrack::take(double loss) {
  if (!std::isfinite(loss)) return;
  last_.push_back(loss);
  if (last_.size() > k_in_a_row) last_.erase(last_.begin());
  if (taken_++ == 0) first_ = loss;
  if (last_.size() < k_in_a_row) return;
  const double mean = mean_of(last_);
  best_ = taken_ == static_cast<std::int64_t>(k_in_a_row) ? mean : std::min(best_, mean);
}

std::optional<Rise> LossTrack::rise() const {
  if (taken_ < k_least_losses || best_ <= 0) return std::nullopt;
  const double lowest = *std::min_element(last_.begin(), last_.end());
  if (first_ > 0 && lowest > k_above_first * first_) return Rise{std::min(first_, best_), mean_of(last_)};
  return lowest > k_above * best_ ? std::optional(Rise{best_, mean_of(last_)}) : std::nullopt;
}

}  // namespace shardlab
