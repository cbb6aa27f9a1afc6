// A loss that rises instead of falling.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace shardlab {

struct Rise {
  double best = 0;  // the lowest mean of a few losses in a row, or the first loss
  double now = 0;   // that of the last ones

  friend bool operator==(const Rise&, const Rise&) = default;
};

// Losses in the order of the steps. Those that are not finite are not taken.
class LossTrack {
 public:
  void take(double loss);

  // Whether the last four losses lie, one by one, 30 % above the best mean of four, or at twice the first
  // loss (proposals, to be tuned); asked at the end, or before a loss that is not finite.
  std::optional<Rise> rise() const;

 private:
  std::vector<double> last_;  // the last four
  std::int64_t taken_ = 0;
  double first_ = 0;
  double best_ = 0;  // mean of four
};

}  // namespace shardlab
