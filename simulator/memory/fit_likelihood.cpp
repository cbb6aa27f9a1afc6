#include "simulator/memory/fit_likelihood.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace shardlab {
namespace {

constexpr double k_outer = 0.1;                        // of the ratios tell how far others may lie
constexpr int k_points = 9;                            // of what is beside the allocator
constexpr double k_same = 0.005;                       // of a likelihood: not told apart
constexpr Bytes k_segment = {std::int64_t{2} << 20U};  // torch's small one, kSmallBuffer

double ratio_of(Bytes a, Bytes b) {
  return b.value > 0 ? static_cast<double>(a.value) / static_cast<double>(b.value) : 1e9;
}

// By how much logarithms of the outer tenth exceed where it begins, on average; `sign` -1: at the lower end.
double mean_excess(const std::vector<double>& sorted, int sign) {
  const std::size_t outer = static_cast<std::size_t>(k_outer * static_cast<double>(sorted.size()));
  if (outer == 0) return 0;
  const std::size_t first = sign > 0 ? sorted.size() - 1 - outer : outer;
  double sum = 0;
  for (std::size_t i = 1; i <= outer; ++i)
    sum += sign * (std::log(sorted[sign > 0 ? first + i : first - i]) - std::log(sorted[first]));
  return sum / static_cast<double>(outer);
}

double falloff(double distance, double scale) {
  if (distance <= 0) return 1;
  return scale > 0 ? std::exp(-distance / scale) : 0;
}

}  // namespace

MemoryErrors::MemoryErrors(std::vector<double> ratios) : sorted_(std::move(ratios)) {
  if (sorted_.empty()) sorted_ = {1};
  std::sort(sorted_.begin(), sorted_.end());
  scale_above_ = mean_excess(sorted_, 1);
  scale_below_ = mean_excess(sorted_, -1);
}

double MemoryErrors::at_most(double ratio) const {
  const auto count = static_cast<double>(sorted_.size());
  const auto below =
      static_cast<double>(std::upper_bound(sorted_.begin(), sorted_.end(), ratio) - sorted_.begin());
  const double last = 1 / (count + 2);
  if (ratio <= 0) return 0;
  if (below == 0) return last * falloff(std::log(sorted_.front() / ratio), scale_below_);
  if (below == count) return 1 - last * falloff(std::log(ratio / sorted_.back()), scale_above_);
  return (below + 1) * last;
}

std::vector<Bytes> equally_likely(Bytes low, Bytes expected, Bytes high) {
  std::vector<Bytes> points;
  for (int i = 0; i < k_points; ++i) {
    const double at = (i + 0.5) / k_points;
    const auto [from, to, part] =
        at < 0.5 ? std::tuple(low, expected, at * 2) : std::tuple(expected, high, at * 2 - 1);
    points.push_back(from + Bytes{static_cast<std::int64_t>(part * static_cast<double>((to - from).value))});
  }
  return points;
}

double likelihood(Bytes limit, Bytes need, const MemoryErrors& errors, const std::vector<Bytes>& beside) {
  double sum = 0;
  for (const Bytes each : beside) sum += limit > each ? errors.at_most(ratio_of(limit - each, need)) : 0;
  return std::clamp(sum / static_cast<double>(beside.size()), 1 - k_surest, k_surest);
}

Bytes sum_at_quantile(double part, Bytes reserved, const MemoryErrors& errors,
                      const std::vector<Bytes>& beside) {
  std::vector<Bytes> sums;
  for (const double ratio : errors.sorted())
    for (const Bytes each : beside)
      sums.push_back(each + Bytes{static_cast<std::int64_t>(ratio * static_cast<double>(reserved.value))});
  std::sort(sums.begin(), sums.end());
  const auto at = static_cast<std::size_t>(part * static_cast<double>(sums.size()));
  return sums[std::min(at, sums.size() - 1)];
}

Bytes least_need(Bytes fails, Bytes works, const std::function<double(Bytes)>& likelihood_of,
                 const std::function<std::optional<Bytes>(Bytes)>& tried) {
  while (works - fails > k_segment && likelihood_of(fails) - likelihood_of(works) > k_same) {
    const Bytes middle = {std::midpoint(fails.value, works.value)};
    if (const std::optional<Bytes> reserved = tried(middle))
      works = *reserved;
    else
      fails = middle;
  }
  return works;
}

}  // namespace shardlab
