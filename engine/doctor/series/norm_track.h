// Norms of gradients far above what they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shardlab {

struct Spike {
  double norm = 0;
  double median = 0;  // of the norms before it

  friend bool operator==(const Spike&, const Spike&) = default;
};

class NormTrack {
 public:
  // More than ten times the median of the last 64 norms, of which there must be 16 (proposals, to be tuned).
  // Norms that are not finite are not taken.
  std::optional<Spike> take(double norm);

  std::int64_t spikes() const { return spikes_; }

 private:
  std::vector<double> last_;  // a ring
  std::size_t next_ = 0;
  std::int64_t spikes_ = 0;
};

}  // namespace shardlab
