#include "engine/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/base/units.h"

namespace shardlab {
namespace {

constexpr std::array<const char*, 8> k_blocks = {"\u2581", "\u2582", "\u2583", "\u2584",
                                                 "\u2585", "\u2586", "\u2587", "\u2588"};

// The means of `count` stretches of about equal length; NaN where a stretch has a value that is not finite.
std::vector<double> stretches(std::span<const double> values, std::size_t count) {
  std::vector<double> means;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * values.size() / count, end = (i + 1) * values.size() / count;
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += values[j];
    const double mean = sum / static_cast<double>(end - begin);
    means.push_back(std::isfinite(mean) ? mean : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

}  // namespace

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string counted(std::int64_t count, std::string_view one) {
  return fmt::format("{} {}{}", grouped(count), one, count == 1 ? "" : "s");
}

std::string percent(double fraction) {
  return fmt::format("{:.{}f} %", fraction * 100, std::abs(fraction) < 0.01 ? 2 : 1);
}

std::string signed_percent(double fraction) {
  return fmt::format("{:+.{}f} %", fraction * 100, std::abs(fraction) < 0.01 ? 2 : 1);
}

std::string rate(double per_second) {
  if (!std::isfinite(per_second)) return "-";
  if (std::abs(per_second) < 100) return fmt::format("{:.1f}", per_second);
  return grouped(std::llround(per_second));
}

std::string metric_figure(std::optional<double> value, MetricUnit unit) {
  if (!value || !std::isfinite(*value)) return "-";
  switch (unit) {
    case MetricUnit::nanoseconds: return to_string(Nanoseconds{std::llround(*value)});
    case MetricUnit::bytes: return to_string(Bytes{std::llround(*value)});
    case MetricUnit::tokens_per_second: return rate(*value);
    case MetricUnit::fraction: return percent(*value);
  }
  return "-";
}

std::string metric_figure(std::string_view metric, std::optional<double> value, MetricUnit unit) {
  const bool none = value == 0 && metric.starts_with("communication.");
  return metric_figure(none ? std::nullopt : value, unit);
}

std::string sparkline(std::span<const double> values, int width) {
  if (values.empty() || width <= 0) return "";
  const std::vector<double> means =
      stretches(values, std::min(values.size(), static_cast<std::size_t>(width)));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double mean : means) {
    if (std::isnan(mean)) continue;
    low = std::min(low, mean);
    high = std::max(high, mean);
  }
  std::string line;
  for (const double mean : means) {
    if (std::isnan(mean)) {
      line += ' ';
      continue;
    }
    const double height = high > low ? (mean - low) / (high - low) : 0;
    line +=
        k_blocks[static_cast<std::size_t>(std::lround(height * static_cast<double>(k_blocks.size() - 1)))];
  }
  return line;
}

}  // namespace shardlab
