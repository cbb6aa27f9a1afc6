#include "gui/view_model/search/point_density.h"

#include <algorithm>

namespace shardlab::view {

void count_points(const std::vector<double>& x, const std::vector<double>& y,
                  const std::vector<std::uint32_t>& passing, std::array<AxisRange, 2> ranges, int columns,
                  int rows, PointDensity& density) {
  density.columns = columns;
  density.rows = rows;
  density.most = 0;
  density.counts.assign(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0);
  const double across = columns / (ranges[0].high - ranges[0].low),
               up = rows / (ranges[1].high - ranges[1].low);
  for (const std::uint32_t i : passing) {
    const double column = (x[i] - ranges[0].low) * across, row = (y[i] - ranges[1].low) * up;
    if (!(column >= 0 && column < columns && row >= 0 && row < rows)) continue;
    std::uint32_t& count = density.counts[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                                          static_cast<std::size_t>(column)];
    density.most = std::max(density.most, ++count);
  }
}

}  // namespace shardlab::view
