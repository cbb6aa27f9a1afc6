// Fits of a few non-negative coefficients to measured times.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace shardlab {

inline constexpr std::size_t k_fit_terms = 3;

// One measurement: time = sum of coefficient[i] * term[i].
struct FitRow {
  std::array<double, k_fit_terms> terms{};
  double time = 0;  // positive
};

// Minimises the sum of (fitted / time - 1)^2, so that a fast and a slow shape weigh the same, over
// coefficients that are not negative; `terms` of them are used (1 to k_fit_terms), the rest are 0. Rows far
// off are given less weight (Huber's, in units of the median deviation, five rounds), so that a disturbed
// measurement does not bend the fit. Without rows all are 0.
std::array<double, k_fit_terms> fit_times(std::span<const FitRow> rows, std::size_t terms);

double median_of(std::vector<double> values);

}  // namespace shardlab
