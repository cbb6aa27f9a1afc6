#include "simulator/backtest/error_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace shardlab {
namespace {

BacktestSummary summary_of(const BacktestGroup& group, const std::vector<const BacktestRow*>& rows) {
  BacktestSummary summary{group.by, group.key};
  std::vector<double> errors;
  double logarithms = 0;
  for (const BacktestRow* row : rows) {
    ++summary.rows;
    if (row->expressible) ++summary.expressible;
    if (row->low && row->published) {
      ++summary.banded;
      summary.in_band += *row->low <= *row->published && *row->published <= *row->high;
    }
    if (!row->error) continue;
    errors.push_back(std::abs(*row->error));
    logarithms += std::log1p(*row->error);
  }
  if (errors.empty()) return summary;
  const double n = static_cast<double>(errors.size());
  summary.n = static_cast<int>(errors.size());
  summary.median = quantile(errors, 0.5);
  summary.mean = std::accumulate(errors.begin(), errors.end(), 0.0) / n;
  summary.p90 = quantile(errors, 0.9);
  summary.worst = *std::max_element(errors.begin(), errors.end());
  summary.bias = std::expm1(logarithms / n);
  return summary;
}

// By what rows are grouped, in the order in which that first appears.
std::vector<std::string> orders(const std::vector<BacktestRow>& rows) {
  std::vector<std::string> names;
  for (const BacktestRow& row : rows) {
    for (const BacktestGroup& group : row.groups) {
      if (std::find(names.begin(), names.end(), group.by) == names.end()) names.push_back(group.by);
    }
  }
  return names;
}

}  // namespace

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

std::vector<BacktestSummary> summarize_errors(const std::vector<BacktestRow>& rows) {
  std::vector<const BacktestRow*> all;
  std::map<BacktestGroup, std::vector<const BacktestRow*>> groups;
  for (const BacktestRow& row : rows) {
    if (row.figure.empty()) continue;  // a verdict alone
    all.push_back(&row);
    for (const BacktestGroup& group : row.groups) groups[group].push_back(&row);
  }
  std::vector<BacktestSummary> summary{summary_of({"all", "all"}, all)};
  for (const std::string& by : orders(rows)) {
    std::vector<BacktestSummary> found;
    for (const auto& [group, members] : groups) {
      if (group.by == by) found.push_back(summary_of(group, members));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const BacktestSummary& a, const BacktestSummary& b) { return a.n > b.n; });
    summary.insert(summary.end(), found.begin(), found.end());
  }
  return summary;
}

BacktestVerdicts count_verdicts(const std::vector<BacktestRow>& rows) {
  BacktestVerdicts verdicts;
  std::string last;
  for (const BacktestRow& row : rows) {
    if (!row.fits || row.id == last) continue;  // a run with two figures has one verdict
    last = row.id;
    auto& counts = row.ran_out_of_memory ? verdicts.ran_out_of_memory : verdicts.ran;
    ++counts[static_cast<std::size_t>(*row.fits)];
  }
  return verdicts;
}

}  // namespace shardlab
