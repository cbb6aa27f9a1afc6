// Time of a matrix product m x k by k x n: a roofline.
//
//   t = overhead + max(2 m n k / rate * (k + k_half) / k, bytes / bandwidth)
//
// k / (k + k_half) is the share of the rate that an inner dimension k attains (prologue and epilogue of a
// tile); the fit is to published tables of GEMMs on A100 and B200 (SimuMax, configs/system) and to this
// machine's own probes after a calibration, whose measured shapes then correct the formula (ShapeTable over
// m, n, k).
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/base/units.h"
#include "simulator/cost/breakdown.h"
#include "simulator/cost/shape_table.h"

namespace shardlab {

// Which operand is transposed decides how a library reads memory.
enum class MatmulUse : std::uint8_t {
  forward,          // y = x W^T
  input_gradient,   // dx = dy W
  weight_gradient,  // dW = dy^T x
};
inline constexpr std::size_t k_matmul_uses = 3;
std::string_view to_string(MatmulUse use);

struct MatmulShape {
  std::int64_t m = 0, n = 0, k = 0;
  Bytes bytes;  // least traffic
};

struct MatmulCoefficients {
  FlopsPerSecond rate;  // of large products
  double k_half = 0;
  BytesPerSecond bandwidth;  // attained
  double overhead_ns = 0;    // per product
  ShapeTable measured;
};

double matmul_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients);

// The time by the formula alone, without the table: what a fit compares with measurements.
double matmul_formula_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients);

ShapeTable::Coordinates coordinates_of(const MatmulShape& shape);
CostBreakdown explain_matmul(const MatmulShape& shape, const MatmulCoefficients& coefficients);

}  // namespace shardlab
