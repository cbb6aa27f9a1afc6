#include "simulator/cost/attention_cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "simulator/cost/formula_text.h"

namespace shardlab {

namespace {

constexpr double k_wide_head = 128;

double rate_of(const AttentionWork& work, const AttentionCoefficients& coefficients) {
  const auto width = static_cast<double>(std::max<std::int64_t>(work.head_dim, 1));
  const double halvings = std::max(std::log2(k_wide_head / width), 0.0);
  return coefficients.rate.value * std::pow(coefficients.narrow, halvings) *
         (work.masked ? coefficients.masked : 1);
}

}  // namespace

double attention_formula_ns(const AttentionWork& work, const AttentionCoefficients& coefficients) {
  const auto s = static_cast<double>(std::max<std::int64_t>(work.sequence, 1));
  return coefficients.overhead_ns + static_cast<double>(work.flops.value) / rate_of(work, coefficients) *
                                        1e9 * (s + coefficients.sequence_half) / s;
}

double attention_ns(const AttentionWork& work, const AttentionCoefficients& coefficients) {
  return attention_formula_ns(work, coefficients) * coefficients.measured.correction(coordinates_of(work));
}

ShapeTable::Coordinates coordinates_of(const AttentionWork& work) {
  return {octaves(static_cast<double>(work.sequence)), octaves(static_cast<double>(work.head_dim)),
          octaves(static_cast<double>(work.heads))};
}

CostBreakdown explain_attention(const AttentionWork& work, const AttentionCoefficients& coefficients) {
  std::string formula =
      fmt::format("{} / {} * ({} + {:.4g})/{} + {}{}", flops_text(static_cast<double>(work.flops.value)),
                  rate_text(FlopsPerSecond{rate_of(work, coefficients)}), work.sequence,
                  coefficients.sequence_half, work.sequence, time_text(coefficients.overhead_ns),
                  correction_text(coefficients.measured, coordinates_of(work)));
  return {attention_ns(work, coefficients),
          fmt::format("attention over {} tokens{}", work.sequence, work.masked ? " with a mask" : ""),
          std::move(formula),
          {}};
}

}  // namespace shardlab
