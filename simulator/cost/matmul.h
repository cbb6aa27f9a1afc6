// Time of a matrix product m x k by k x n: a roofline over tiles and waves.
//
//   t = overhead + max(2 m n k / (rate * filled * aligned) * (k + k_half) / k, bytes / bandwidth)
//
// k / (k + k_half) is the share of the rate that an inner dimension k attains (prologue and epilogue of a
// tile). `filled` is what tiles and waves leave of it: the result is cut into tiles, one a multiprocessor at
// a time, and a last wave of fewer tiles than multiprocessors takes nearly as long as a full one. Sizes of
// tiles and their fit to published tables: assets/hardware/kernels/matmul.yaml. Processors have no waves, and
// neither has a calibration, whose measured shapes correct the formula instead (ShapeTable over m, n, k).
// `aligned` is 1 but for rows of 16-bit numbers that are no multiple of 16 bytes, for which cuBLAS has other
// kernels.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/dtype.h"
#include "engine/base/units.h"
#include "engine/hardware/kernel_figures.h"
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

// How a product is cut over multiprocessors; none: not at all.
struct WaveCoefficients {
  int multiprocessors = 0;
  TileFigures tiles;
};

// Computed over needed multiply-adds, at least 1: what tiles that reach over the edge and multiprocessors
// that are idle in the last wave cost, by the tile that costs least.
double wave_factor(const MatmulShape& shape, const WaveCoefficients& waves);

// Rows of 16-bit operands and results that are no multiple of 16 bytes, where a library has slower kernels
// for them.
struct AlignmentCoefficients {
  double share = 1;                 // of the rate
  bool reads_rows_of_inner = true;  // rows of an operand are k elements long; else m, of one read turned
};

// 1, or `share` where a row is no multiple of 16 bytes.
double alignment_share(const MatmulShape& shape, const AlignmentCoefficients& alignment);

struct MatmulCoefficients {
  FlopsPerSecond rate;  // of large products
  double k_half = 0;
  BytesPerSecond bandwidth;  // attained
  double overhead_ns = 0;    // per product
  ShapeTable measured;
  WaveCoefficients waves;
  AlignmentCoefficients alignment;
};

double matmul_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients);

// The time by the formula alone, without the table: what a fit compares with measurements.
double matmul_formula_ns(const MatmulShape& shape, const MatmulCoefficients& coefficients);

ShapeTable::Coordinates coordinates_of(const MatmulShape& shape);
CostBreakdown explain_matmul(const MatmulShape& shape, const MatmulCoefficients& coefficients);

}  // namespace shardlab
