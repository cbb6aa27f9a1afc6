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
  return flops_of(shape) / coefficients.rate.value * 1e9 * (k + coefficients.k_half) / k *
         wave_factor(shape, coefficients.waves) / alignment_share(shape, coefficients.alignment);
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Results that tiles of this size compute, a last wave counted whole by as much as `idle_tail` says.
double computed(const MatmulShape& shape, std::int64_t rows, std::int64_t columns,
                const WaveCoefficients& waves) {
  const std::int64_t tiles = ceil_div(shape.m, rows) * ceil_div(shape.n, columns);
  const std::int64_t in_full_waves = ceil_div(tiles, waves.multiprocessors) * waves.multiprocessors;
  const auto needed = static_cast<double>(shape.m) * static_cast<double>(shape.n);
  const auto whole = static_cast<double>(in_full_waves * rows * columns);
  return needed + waves.tiles.idle_tail * (whole - needed);
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

double wave_factor(const MatmulShape& shape, const WaveCoefficients& waves) {
  const TileFigures& tiles = waves.tiles;
  if (waves.multiprocessors <= 0 || tiles.small <= 0 || shape.m <= 0 || shape.n <= 0) return 1;
  const double best = std::min({computed(shape, tiles.rows, tiles.columns, waves),
                                computed(shape, tiles.columns, tiles.rows, waves),
                                computed(shape, tiles.small, tiles.small, waves) / tiles.small_speed});
  return best / (static_cast<double>(shape.m) * static_cast<double>(shape.n));
}

double alignment_share(const MatmulShape& shape, const AlignmentCoefficients& alignment) {
  constexpr std::int64_t k_elements = 8;  // of 16 bits in 16 bytes
  const std::int64_t other = alignment.reads_rows_of_inner ? shape.k : shape.m;
  return shape.n % k_elements == 0 && other % k_elements == 0 ? 1 : alignment.share;
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
  const double waves = wave_factor(shape, coefficients.waves);
  const double aligned = alignment_share(shape, coefficients.alignment);
  std::string formula =
      arithmetic ? fmt::format("{} / {} * ({} + {:.4g})/{}{}{}", flops_text(flops_of(shape)),
                               rate_text(coefficients.rate), shape.k, coefficients.k_half, shape.k,
                               waves > 1 ? fmt::format(" * {:.3f} (tiles, waves)", waves) : "",
                               aligned < 1 ? fmt::format(" / {:.3g} (rows not of 16 bytes)", aligned) : "")
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
