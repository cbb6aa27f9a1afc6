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
  std::stable_sort(points.begin(), points.end(), [](const FrontPoint& a, const FrontPoint& b) {
    return a.candidate.costs.time < b.candidate.costs.time;
  });
  return points;
}

}  // namespace shardlab
