#include "gui/view_model/search/search_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "simulator/search/report/search_words.h"

namespace shardlab::view {
namespace {

constexpr double k_million = 1e6;
constexpr double k_margin = 0.04;
constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();

std::array<double, k_search_axes> values_of(const Candidate& candidate) {
  const PredictedFigures& figures = candidate.figures;
  const TrainingCosts& costs = candidate.costs;
  const double time = costs.hours ? *costs.hours : costs.time * k_million;
  const double money = costs.dollars ? *costs.dollars : costs.money ? *costs.money * k_million : k_unknown;
  return {time,
          money,
          static_cast<double>(figures.memory().value) / (1 << 30),
          static_cast<double>(candidate.configuration.gpus),
          static_cast<double>(figures.step_time.value) / 1e6,
          figures.tokens_per_second,
          static_cast<double>(candidate.configuration.micro_batch),
          figures.fit_probability ? *figures.fit_probability * 100 : k_unknown};
}

// So that the less is the better.
double cost_on(SearchAxis axis, double value) {
  const bool more_is_better =
      axis == SearchAxis::tokens_per_second || axis == SearchAxis::micro_batch || axis == SearchAxis::fits;
  return more_is_better ? -value : value;
}

bool has_words(std::string_view text, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (text.find(words.substr(0, end)) == std::string_view::npos) return false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return true;
}

}  // namespace

std::string_view title_of(SearchAxis axis, bool has_tokens) {
  switch (axis) {
    case SearchAxis::time: return has_tokens ? "hours" : "seconds a million tokens";
    case SearchAxis::money: return has_tokens ? "dollars" : "dollars a million tokens";
    case SearchAxis::memory: return "GiB a rank";
    case SearchAxis::gpus: return "GPUs";
    case SearchAxis::step_time: return "step, ms";
    case SearchAxis::tokens_per_second: return "tokens/s";
    case SearchAxis::micro_batch: return "micro-batch";
    case SearchAxis::fits: return "fits with, %";
  }
  return "";
}

SearchPoints points_of(const SearchOutcome& outcome) {
  SearchPoints points;
  std::set<std::uint64_t> front;
  for (const FrontPoint& each : outcome.result.front) front.insert(each.candidate.configuration.index);
  for (const Candidate& candidate : outcome.result.simulated) {
    const auto values = values_of(candidate);
    for (std::size_t axis = 0; axis < k_search_axes; ++axis) points.values[axis].push_back(values[axis]);
    points.satisfies.push_back(candidate.satisfies() ? 1 : 0);
    points.on_front.push_back(front.contains(candidate.configuration.index) ? 1 : 0);
    points.knobs.push_back(
        fmt::format("{}", fmt::join(knob_words(outcome.question, candidate.configuration), ", ")));
  }
  return points;
}

std::vector<std::uint32_t> passing(const SearchPoints& points, const PointFilter& filter) {
  std::vector<std::uint32_t> pass;
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    if (filter.satisfying && points.satisfies[i] == 0) continue;
    if (has_words(points.knobs[i], filter.text)) pass.push_back(i);
  }
  return pass;
}

std::vector<std::uint32_t> front_of(const SearchPoints& points, const std::vector<std::uint32_t>& passing,
                                    SearchAxis x, SearchAxis y) {
  const auto cost = [&](SearchAxis axis, std::uint32_t i) { return cost_on(axis, points.of(axis)[i]); };
  std::vector<std::uint32_t> sorted;
  for (const std::uint32_t i : passing)
    if (std::isfinite(points.of(x)[i]) && std::isfinite(points.of(y)[i])) sorted.push_back(i);
  std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(cost(x, a), cost(y, a)) < std::pair(cost(x, b), cost(y, b));
  });
  std::vector<std::uint32_t> front;
  for (const std::uint32_t i : sorted)
    if (front.empty() || cost(y, i) < cost(y, front.back())) front.push_back(i);
  return front;
}

AxisRange range_of(const std::vector<double>& values, const std::vector<std::uint32_t>& passing) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const std::uint32_t i : passing) {
    if (!std::isfinite(values[i])) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  if (low > high) return {};
  const double margin = high > low ? (high - low) * k_margin : std::max(std::abs(low) * k_margin, 1e-9);
  return {low - margin, high + margin};
}

std::optional<std::uint32_t> nearest_point(const std::vector<double>& x, const std::vector<double>& y,
                                           const std::vector<std::uint32_t>& passing,
                                           std::array<double, 2> place, std::array<double, 2> reach) {
  std::optional<std::uint32_t> nearest;
  double least = 1;
  for (const std::uint32_t i : passing) {
    const double along = (x[i] - place[0]) / reach[0], up = (y[i] - place[1]) / reach[1];
    const double square = along * along + up * up;
    if (!(square <= least)) continue;  // what is unknown is near nothing
    least = square;
    nearest = i;
  }
  return nearest;
}

}  // namespace shardlab::view
