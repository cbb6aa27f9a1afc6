#include "simulator/cost/memory_bound.h"

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {

double traffic_formula_ns(const Traffic& traffic, const TrafficCoefficients& coefficients) {
  return static_cast<double>(traffic.pieces) * coefficients.overhead_ns +
         static_cast<double>(traffic.bytes.value) / coefficients.bandwidth.value * 1e9;
}

double traffic_ns(const Traffic& traffic, const TrafficCoefficients& coefficients) {
  return traffic_formula_ns(traffic, coefficients) *
         coefficients.measured.correction(coordinates_of(traffic));
}

ShapeTable::Coordinates coordinates_of(const Traffic& traffic) {
  return {octaves(static_cast<double>(traffic.bytes.value)), octaves(static_cast<double>(traffic.pieces)), 0};
}

CostBreakdown explain_traffic(std::string term, const Traffic& traffic,
                              const TrafficCoefficients& coefficients) {
  std::string formula =
      fmt::format("{} * {} + {} / {}{}", traffic.pieces, time_text(coefficients.overhead_ns),
                  bytes_text(static_cast<double>(traffic.bytes.value)), rate_text(coefficients.bandwidth),
                  correction_text(coefficients.measured, coordinates_of(traffic)));
  return {traffic_ns(traffic, coefficients), std::move(term), std::move(formula), {}};
}

}  // namespace shardlab
