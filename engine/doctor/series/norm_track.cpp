#include "engine/doctor/series/norm_track.h"

#include <cmath>

#include "engine/doctor/series/median.h"

namespace shardlab {
std::optional<Spike> NormTrack::take(double norm) {
  if (!std::isfinite(norm)) return std::nullopt;
  constexpr std::size_t k_window = 64, k_enough = 16;
  constexpr double k_far = 10;
  std::optional<Spike> spike;
  if (last_.size() >= k_enough) {
    const double median = middle_of(last_);
    if (median > 0 && norm > k_far * median) spike = Spike{norm, median};
  }
  if (spike) ++spikes_;
  if (last_.size() < k_window)
    last_.push_back(norm);
  else
    last_[next_] = norm;
  next_ = (next_ + 1) % k_window;
  return spike;
}

}  // namespace shardlab
