// Memory at the same point of every step that grows and grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shardlab {

struct Growth {
  double first = 0;  // median of the first quarter of the figures
  double last = 0;   // of the last one

  friend bool operator==(const Growth&, const Growth&) = default;
};

// Figures in the order of the steps, in any unit. A highest value so far grows as well, in steps that become
// rare; what leaks grows as much in the last quarter as in the first.
class MemoryTrack {
 public:
  void take(double memory);

  // Whether the medians of the quarters grow by 10 % in all, and each of the three times by a quarter of that
  // at least (proposals, to be tuned). Nothing for less than 12 figures.
  std::optional<Growth> growth() const;

 private:
  std::vector<double> kept_;  // every `stride_`th
  std::int64_t stride_ = 1;
  std::int64_t taken_ = 0;
};

}  // namespace shardlab
