#include <algorithm>
#include <cmath>

#include "simulator/search/search.h"

namespace shardlab {
namespace {

constexpr double k_alike = 0.01;  // less than predictions tell apart

bool alike(double a, double b) {
  return std::abs(a - b) <= k_alike * std::max(std::abs(a), std::abs(b));
}

bool alike(const Candidate& a, const Candidate& b) {
  return alike(a.costs.time, b.costs.time) && alike(a.costs.money.value_or(0), b.costs.money.value_or(0)) &&
         alike(static_cast<double>(a.figures.memory().value), static_cast<double>(b.figures.memory().value));
}

bool equal_or_less(double a, double b) {
  return a <= b * (1 + k_equal);
}

// As good in time and money but for what predictions cannot tell apart.
bool equals(const Candidate& a, const Candidate& b) {
  const TrainingCosts &of_a = a.costs, &of_b = b.costs;
  return of_a.money.has_value() == of_b.money.has_value() && equal_or_less(of_a.time, of_b.time) &&
         equal_or_less(of_a.money.value_or(0), of_b.money.value_or(0));
}

// Without points that another equals with less memory; it counts them among those alike.
std::vector<FrontPoint> without_equals(std::vector<FrontPoint> points) {
  std::stable_sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) {
    return a.candidate.figures.memory() < b.candidate.figures.memory();
  });
  std::vector<FrontPoint> kept;
  for (FrontPoint& each : points) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const FrontPoint& point) {
      return equals(point.candidate, each.candidate);
    });
    if (same != kept.end())
      same->alike += 1 + each.alike;
    else
      kept.push_back(std::move(each));
  }
  return kept;
}

}  // namespace

std::vector<FrontPoint> folded_front(std::vector<Candidate> front) {
  std::sort(front.begin(), front.end(), [](const Candidate& a, const Candidate& b) {
    return nearer_to_defaults(a.configuration, b.configuration);
  });
  std::vector<FrontPoint> points;
  for (Candidate& each : front) {
    const auto same = std::find_if(points.begin(), points.end(),
                                   [&](const FrontPoint& point) { return alike(point.candidate, each); });
    if (same != points.end())
      ++same->alike;
    else
      points.push_back({std::move(each), 0});
  }
  points = without_equals(std::move(points));
  std::stable_sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) {
    return a.candidate.costs.time < b.candidate.costs.time;
  });
  return points;
}

}  // namespace shardlab
