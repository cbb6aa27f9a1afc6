#include "simulator/cost/shape_table.h"

#include <algorithm>
#include <cmath>

namespace shardlab {

void ShapeTable::add(const Coordinates& shape, double ratio) {
  const Point point{shape, std::log(ratio)};
  const auto later = [](const Point& a, const Point& b) { return a.shape[0] < b.shape[0]; };
  points_.insert(std::upper_bound(points_.begin(), points_.end(), point, later), point);
}

double ShapeTable::correction(const Coordinates& shape) const {
  if (points_.empty()) return 1;
  return std::exp(on_line(shape) ? on_line_log_ratio(shape[0]) : scattered_log_ratio(shape));
}

// Corrections lie between those of the points.
double ShapeTable::least_correction() const {
  double least = 0;
  for (const Point& point : points_)
    least = &point == &points_.front() ? point.log_ratio : std::min(least, point.log_ratio);
  return std::exp(least);
}

bool ShapeTable::on_line(const Coordinates& shape) const {
  return std::all_of(points_.begin(), points_.end(), [&](const Point& point) {
    return std::equal(point.shape.begin() + 1, point.shape.end(), shape.begin() + 1);
  });
}

double ShapeTable::on_line_log_ratio(double position) const {
  const auto above =
      std::lower_bound(points_.begin(), points_.end(), position,
                       [](const Point& point, double value) { return point.shape[0] < value; });
  if (above == points_.begin()) return above->log_ratio;
  const Point& below = *(above - 1);
  if (above == points_.end()) return below.log_ratio;
  const double width = above->shape[0] - below.shape[0];
  return below.log_ratio + (above->log_ratio - below.log_ratio) * (position - below.shape[0]) / width;
}

double ShapeTable::scattered_log_ratio(const Coordinates& shape) const {
  double weights = 0;
  double sum = 0;
  for (const Point& point : points_) {
    double square = 0;
    for (std::size_t i = 0; i < k_dimensions; ++i)
      square += (point.shape[i] - shape[i]) * (point.shape[i] - shape[i]);
    if (square < 1e-12) return point.log_ratio;
    const double weight = 1 / (square * square);
    weights += weight;
    sum += weight * point.log_ratio;
  }
  return sum / weights;
}

double octaves(double size) {
  return std::log2(std::max(size, 1.0));
}

}  // namespace shardlab
