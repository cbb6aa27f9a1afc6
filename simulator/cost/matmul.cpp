#include "simulator/cost/matmul.h"

#include <algorithm>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {
namespace {

double flops_of(const MatmulShape& shape) {
  return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

double arithmetic_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients) {
  const auto k = static_cast<double>(std::max<std::int64_t>(shape.k, 1));
  return flops_of(shape) / coefficients.rate.value * 1e9 * (k + coefficients.k_half) / k;
}

double traffic_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients) {
  return static_cast<double>(shape.bytes.value) / coefficients.bandwidth.value * 1e9;
}

}  // namespace

std::string_view to_string(MatmulUse use) {
  switch (use) {
    case MatmulUse::forward: return "forward";
    case MatmulUse::input_gradient: return "input_gradient";
    case MatmulUse::weight_gradient: return "weight_gradient";
  }
  return "";
}

double matmul_formula_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients) {
  return coefficients.overhead_ns +
         std::max(arithmetic_ns(shape, coefficients), traffic_ns(shape, coefficients));
}

double matmul_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients) {
  return matmul_formula_ns(shape, coefficients) * coefficients.measured.correction(coordinates_of(shape));
}

ShapeTable::Coordinates coordinates_of(const MatmulShape& shape) {
  return {octaves(static_cast<double>(shape.m)), octaves(static_cast<double>(shape.n)),
          octaves(static_cast<double>(shape.k))};
}

CostBreakdown explain_matmul(const MatmulShape& shape, const MatmulCoefficients& coefficients) {
  const bool arithmetic = arithmetic_ns(shape, coefficients) >= traffic_ns(shape, coefficients);
  std::string formula = arithmetic
                            ? fmt::format("{} / {} * ({} + {:.4g})/{}", flops_text(flops_of(shape)),
                                          rate_text(coefficients.rate), shape.k, coefficients.k_half, shape.k)
                            : fmt::format("{} / {}", bytes_text(static_cast<double>(shape.bytes.value)),
                                          rate_text(coefficients.bandwidth));
  formula += fmt::format(" + {}{}", time_text(coefficients.overhead_ns),
                         correction_text(coefficients.measured, coordinates_of(shape)));
  return {matmul_ns(shape, coefficients),
          fmt::format("matmul {} x {} x {}", shape.m, shape.n, shape.k),
          std::move(formula),
          {}};
}

}  // namespace shardlab
