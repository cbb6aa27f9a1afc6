// Measured shapes beside a formula: how far off the formula was, interpolated between the shapes.
//
// A table holds, at each measured shape, measured / formula. At a measured shape the corrected formula is the
// measurement. Between shapes that differ in one dimension the logarithm of the ratio is interpolated
// linearly, outside them the end's ratio holds; shapes that differ in several are averaged with weights 1 /
// distance^4 (Shepard's method). Thread-safe for readers.
#pragma once

#include <array>
#include <vector>

namespace shardlab {

class ShapeTable {
 public:
  static constexpr std::size_t k_dimensions = 3;
  using Coordinates = std::array<double, k_dimensions>;  // of a shape, in octaves (log2); unused ones 0

  // `ratio`: measured / formula, positive.
  void add(const Coordinates& shape, double ratio);
  bool empty() const { return points_.empty(); }
  std::size_t size() const { return points_.size(); }

  // The factor by which to multiply the formula; 1 for an empty table.
  double correction(const Coordinates& shape) const;

  // What no correction falls short of.
  double least_correction() const;

 private:
  struct Point {
    Coordinates shape;
    double log_ratio;
  };
  bool on_line(const Coordinates& shape) const;
  double on_line_log_ratio(double position) const;
  double scattered_log_ratio(const Coordinates& shape) const;

  std::vector<Point> points_;  // by the first coordinate
};

// log2 of a positive size.
double octaves(double size);

}  // namespace shardlab
