// Figures as people read them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/chance.h"
#include "engine/trace/comparison.h"

namespace shardlab {

std::string grouped(std::int64_t value);                                  // "12,345,678"
std::string counted(std::int64_t count, std::string_view one);            // "1 unit", "12,345 units"
std::string percent(double fraction);                                     // "12.3 %"
std::string signed_percent(double fraction);                              // "+12.3 %"
std::string rate(double per_second);                                      // "12,345", "12.3" below a hundred
std::string metric_figure(std::optional<double> value, MetricUnit unit);  // with its unit; "-" when absent
// The figure of the metric with this name: "-" also where zero says that the run has none of it, for example
// no collective of a kind.
std::string metric_figure(std::string_view metric, std::optional<double> value, MetricUnit unit);

// A curve of at most `width` block characters, the mean of its stretch in each; what is no number is left
// blank.
std::string sparkline(std::span<const double> values, int width);

}  // namespace shardlab
