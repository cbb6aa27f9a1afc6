// How many points lie in each cell of a grid: what is drawn of very many points instead of each.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gui/view_model/search/search_points.h"

namespace shardlab::view {

struct PointDensity {
  int columns = 0, rows = 0;
  std::vector<std::uint32_t> counts;  // by row from below, then column
  std::uint32_t most = 0;
};

// Points outside of the ranges are left out. One pass over the points; `density` keeps its memory.
void count_points(const std::vector<double>& x, const std::vector<double>& y,
                  const std::vector<std::uint32_t>& passing, std::array<AxisRange, 2> ranges, int columns,
                  int rows, PointDensity& density);

}  // namespace shardlab::view
