// The part of the time axis that is visible and how many pixels it has.
#pragma once

#include <algorithm>

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

}  // namespace shardlab::view
