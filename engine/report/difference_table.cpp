#include <fmt/format.h>

#include <cmath>

#include "engine/report/alike_layers.h"
#include "engine/report/figures.h"
#include "engine/report/run_difference.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

// From here on a percentage says less than a factor.
constexpr double k_many_times = 3;

std::string part(std::string_view heading, const std::vector<DifferenceRow>& rows, const std::string& first,
                 const std::string& second, const TextStyle& style) {
  if (rows.empty()) return "";
  TextTable table({{std::string(heading), Align::left, true, 16}, {first}, {second}, {"difference"}});
  for (const DifferenceRow& row : rows) {
    table.add({row.name, metric_figure(row.metric, row.first, row.unit),
               metric_figure(row.metric, row.second, row.unit), difference_words(row)});
  }
  return table.text(style);
}

}  // namespace

std::string difference_words(const DifferenceRow& row) {
  if (!row.first || !row.second || !std::isfinite(*row.first) || !std::isfinite(*row.second)) return "-";
  if (*row.first == *row.second) return "same";
  if (*row.first == 0) return "new";
  if (*row.second == 0) return "gone";
  const double ratio = *row.second / *row.first;
  if (ratio <= 0 || (ratio < k_many_times && ratio > 1 / k_many_times)) return signed_percent(ratio - 1);
  return ratio < 1 ? fmt::format("1/{:.3g}", 1 / ratio) : fmt::format("{:.3g} x", ratio);
}

std::string difference_table(const RunDifference& difference, const std::string& first,
                             const std::string& second, const TextStyle& style) {
  std::string text;
  const auto add = [&](std::string_view heading, const std::vector<DifferenceRow>& rows) {
    const std::string its = part(heading, rows, first, second, style);
    if (!its.empty()) text += (text.empty() ? "" : "\n") + its;
  };
  add("", difference.totals);
  add("memory at the peak", difference.memory);
  add("time by kind", difference.kinds);
  add("time by part of the model", with_alike_layers_joined(difference.units));
  return text;
}

}  // namespace shardlab
