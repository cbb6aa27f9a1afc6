// The part of the time axis that is visible and how many pixels it has.
#pragma once

#include <string>
#include <vector>

#include "engine/base/units.h"

namespace shardlab::view {

struct TimeScale {
  double from = 0;   // ns at the left edge
  double to = 1;     // ns at the right edge, greater than `from`
  double width = 1;  // pixels, positive

  double pixels_per_ns() const { return width / (to - from); }
  double pixel(Nanoseconds time) const { return (static_cast<double>(time.value) - from) * pixels_per_ns(); }
  double time_at(double pixel) const { return from + pixel / pixels_per_ns(); }
  double span_of(double pixels) const { return pixels / pixels_per_ns(); }

  friend bool operator==(const TimeScale&, const TimeScale&) = default;
};

// A time on an axis of which `visible` ns are seen: one unit for the whole axis and as many decimals as tell
// neighbouring ticks apart, so that "100.02 ms" and "100.04 ms" do not both read "100 ms".
std::string axis_time(double ns, double visible);

// Where an axis has its ticks: multiples of 1, 2 or 5 times a power of ten, as close together as `most` of
// them allow; ascending. `to` is above `from`, `most` at least 2.
std::vector<double> tick_places(double from, double to, int most);

}  // namespace shardlab::view
