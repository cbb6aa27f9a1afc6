#include "engine/doctor/series/loss_track.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardlab {
namespace {

constexpr std::size_t k_in_a_row = 4;
constexpr std::int64_t k_least_losses = 8;
constexpr double k_above = 1.3;

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void LossTrack::take(double loss) {
  if (!std::isfinite(loss)) return;
  last_.push_back(loss);
  if (last_.size() > k_in_a_row) last_.erase(last_.begin());
  ++taken_;
  if (last_.size() < k_in_a_row) return;
  const double mean = mean_of(last_);
  best_ = taken_ == static_cast<std::int64_t>(k_in_a_row) ? mean : std::min(best_, mean);
}

std::optional<Rise> LossTrack::rise() const {
  if (taken_ < k_least_losses || best_ <= 0) return std::nullopt;
  const bool all_above =
      std::all_of(last_.begin(), last_.end(), [&](double loss) { return loss > k_above * best_; });
  return all_above ? std::optional(Rise{best_, mean_of(last_)}) : std::nullopt;
}

}  // namespace shardlab
