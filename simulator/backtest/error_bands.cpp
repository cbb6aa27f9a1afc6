#include "simulator/backtest/error_bands.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace shardlab {
namespace {

struct Residual {
  double logarithm = 0;  // of predicted / published
  double weight = 0;
};

using ResidualsBySeries = std::map<std::string, std::vector<double>>;

ResidualsBySeries residuals(const std::vector<BacktestRow>& rows) {
  ResidualsBySeries by_series;
  for (const BacktestRow& row : rows) {
    if (row.error) by_series[row.series].push_back(std::log1p(*row.error));
  }
  return by_series;
}

std::vector<Residual> of_others(const ResidualsBySeries& by_series, const std::string& left_out) {
  std::vector<Residual> others;
  for (const auto& [series, logarithms] : by_series) {
    if (series == left_out) continue;
    for (const double logarithm : logarithms)
      others.push_back({logarithm, 1.0 / static_cast<double>(logarithms.size())});
  }
  std::sort(others.begin(), others.end(),
            [](const Residual& a, const Residual& b) { return a.logarithm < b.logarithm; });
  return others;
}

// The first residual up to which at least `part` of the weight lies.
double weighted_quantile(const std::vector<Residual>& sorted, double part) {
  double total = 0;
  for (const Residual& each : sorted) total += each.weight;
  double sum = 0;
  for (const Residual& each : sorted) {
    sum += each.weight;
    if (sum >= part * total) return each.logarithm;
  }
  return sorted.back().logarithm;
}

}  // namespace

std::optional<double> set_bands(std::vector<BacktestRow>& rows, double part) {
  const ResidualsBySeries by_series = residuals(rows);
  const double outside = (1 - part) / 2;
  int bands = 0;
  int inside = 0;
  for (BacktestRow& row : rows) {
    if (!row.predicted) continue;
    const std::vector<Residual> others = of_others(by_series, row.series);
    if (static_cast<int>(others.size()) < k_least_residuals) continue;
    row.low = *row.predicted / std::exp(weighted_quantile(others, 1 - outside));
    row.high = *row.predicted / std::exp(weighted_quantile(others, outside));
    if (!row.published) continue;
    ++bands;
    if (*row.low <= *row.published && *row.published <= *row.high) ++inside;
  }
  if (bands == 0) return std::nullopt;
  return static_cast<double>(inside) / bands;
}

}  // namespace shardlab
