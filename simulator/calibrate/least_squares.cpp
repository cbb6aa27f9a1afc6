#include "simulator/calibrate/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace shardlab {
namespace {

using Coefficients = std::array<double, k_fit_terms>;
using Matrix =
    std::array<std::array<double, k_fit_terms + 1>, k_fit_terms>;  // the last column is the right-hand side

// Solves the leading n x n part; none when it is singular.
std::optional<Coefficients> solve(Matrix m, std::size_t n) {
  for (std::size_t column = 0; column < n; ++column) {
    std::size_t pivot = column;
    for (std::size_t row = column + 1; row < n; ++row) {
      if (std::abs(m[row][column]) > std::abs(m[pivot][column])) pivot = row;
    }
    if (std::abs(m[pivot][column]) < 1e-12) return std::nullopt;
    std::swap(m[pivot], m[column]);
    for (std::size_t row = 0; row < n; ++row) {
      if (row == column) continue;
      const double factor = m[row][column] / m[column][column];
      for (std::size_t k = column; k <= k_fit_terms; ++k) m[row][k] -= factor * m[column][k];
    }
  }
  Coefficients result{};
  for (std::size_t i = 0; i < n; ++i) result[i] = m[i][k_fit_terms] / m[i][i];
  return result;
}

class Fit {
 public:
  Fit(std::span<const FitRow> rows, std::size_t terms)
      : rows_(rows), terms_(terms), weights_(rows.size(), 1.0) {
    find_scales();
  }

  Coefficients fit() {
    Coefficients best{};
    for (int round = 0; round < 6; ++round) {
      best = best_subset();
      reweight(best);
    }
    return best;
  }

 private:
  // Terms differ by many orders of magnitude; each is scaled to about 1.
  void find_scales() {
    for (std::size_t i = 0; i < terms_; ++i) {
      for (const FitRow& row : rows_) scales_[i] = std::max(scales_[i], std::abs(row.terms[i]) / row.time);
      if (scales_[i] == 0) scales_[i] = 1;
    }
  }

  double term(const FitRow& row, std::size_t i) const { return row.terms[i] / row.time / scales_[i]; }

  // Few enough terms to try every set of them that may be positive.
  Coefficients best_subset() const {
    Coefficients best{};
    double least = std::numeric_limits<double>::infinity();
    for (std::uint32_t mask = 1; mask < 1U << terms_; ++mask) {
      const auto candidate = solve_subset(mask);
      if (!candidate || std::any_of(candidate->begin(), candidate->end(), [](double c) { return c < 0; }))
        continue;
      const double error = squared_error(*candidate);
      if (error < least * (1 - 1e-9)) {
        least = error;
        best = *candidate;
      }
    }
    return best;
  }

  std::optional<Coefficients> solve_subset(std::uint32_t mask) const {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < terms_; ++i) {
      if (mask >> i & 1U) used.push_back(i);
    }
    Matrix m{};
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      for (std::size_t i = 0; i < used.size(); ++i) {
        const double scaled = weights_[r] * term(rows_[r], used[i]);
        for (std::size_t j = 0; j < used.size(); ++j) m[i][j] += scaled * term(rows_[r], used[j]);
        m[i][k_fit_terms] += scaled;
      }
    }
    const auto solution = solve(m, used.size());
    if (!solution) return std::nullopt;
    Coefficients coefficients{};
    for (std::size_t i = 0; i < used.size(); ++i) coefficients[used[i]] = (*solution)[i] / scales_[used[i]];
    return coefficients;
  }

  double deviation(const FitRow& row, const Coefficients& coefficients) const {
    double sum = 0;
    for (std::size_t i = 0; i < terms_; ++i) sum += coefficients[i] * row.terms[i];
    return sum / row.time - 1;
  }

  double squared_error(const Coefficients& coefficients) const {
    double sum = 0;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const double error = deviation(rows_[r], coefficients);
      sum += weights_[r] * error * error;
    }
    return sum;
  }

  void reweight(const Coefficients& coefficients) {
    std::vector<double> deviations;
    for (const FitRow& row : rows_) deviations.push_back(std::abs(deviation(row, coefficients)));
    const double limit = 1.345 * 1.4826 * std::max(median_of(deviations), 1e-6);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      weights_[r] = deviations[r] <= limit ? 1 : limit / deviations[r];
  }

  std::span<const FitRow> rows_;
  std::size_t terms_;
  std::vector<double> weights_;
  Coefficients scales_{};
};

}  // namespace

std::array<double, k_fit_terms> fit_times(std::span<const FitRow> rows, std::size_t terms) {
  if (rows.empty()) return {};
  return Fit(rows, std::min(terms, k_fit_terms)).fit();
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace shardlab
