// Time of work that only moves memory: norms, rotary embedding, activations, sums, copies, casts, the
// optimizer.
//
//   t = pieces * overhead + bytes / bandwidth
//
// `bytes` counts reads and writes; a piece is a kernel, or one tensor's part of a copy. Measured sizes
// correct the formula (a small tensor may sit in a cache).
#pragma once

#include <cstdint>
#include <string>

#include "engine/base/units.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shape_table.h"

namespace shardlab {

struct Traffic {
  Bytes bytes;
  std::int64_t pieces = 1;
};

struct TrafficCoefficients {
  BytesPerSecond bandwidth;
  double overhead_ns = 0;  // per piece
  ShapeTable measured;     // over bytes and pieces
};

double traffic_ns(const Traffic& traffic, const TrafficCoefficients& coefficients);
double traffic_formula_ns(const Traffic& traffic, const TrafficCoefficients& coefficients);
ShapeTable::Coordinates coordinates_of(const Traffic& traffic);
CostBreakdown explain_traffic(std::string term, const Traffic& traffic,
                              const TrafficCoefficients& coefficients);

}  // namespace shardlab
