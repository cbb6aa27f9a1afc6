#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/report/backtest_report.h"
#include "engine/report/figures.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

constexpr std::size_t k_worst_rows = 10;

std::string figure_text(const BacktestRow& row, std::optional<double> value) {
  if (!value) return "-";
  return row.figure.starts_with("peak_") ? to_string(Bytes{std::llround(*value)}) : rate(*value);
}

std::string heading(const Backtest& backtest) {
  const BacktestSummary& all = backtest.summary.front();
  std::string text =
      fmt::format("{} of {}: {} published figures, {} expressible, {} predicted\n",
                  to_string(backtest.metric), backtest.table, all.rows, all.expressible, all.n);
  for (const std::string& setting : backtest.settings) text += "  with " + setting + "\n";
  return text;
}

std::string summary_text(const Backtest& backtest, const TextStyle& style) {
  std::vector<TableColumn> columns = {{"by", Align::left},
                                      {"", Align::left, true, 24},
                                      {"rows"},
                                      {"expressible"},
                                      {"predicted"},
                                      {"median"},
                                      {"mean", Align::right, false, 8, 1},
                                      {"90 %", Align::right, false, 8, 2},
                                      {"worst"},
                                      {"bias"}};
  if (backtest.has_bands) columns.push_back({"in band"});
  TextTable table(std::move(columns), "  ");
  std::string last;
  for (const BacktestSummary& each : backtest.summary) {
    if (each.expressible == 0) continue;
    const auto error = [&](double value) { return each.n > 0 ? percent(value) : std::string("-"); };
    table.add({each.by == last ? std::string() : each.by, each.by == "all" ? std::string() : each.key,
               std::to_string(each.rows), std::to_string(each.expressible), std::to_string(each.n),
               error(each.median), error(each.mean), error(each.p90), error(each.worst),
               each.n > 0 ? signed_percent(each.bias) : "-",
               each.banded > 0 ? fmt::format("{:.0f} %", 100.0 * each.in_band / each.banded) : "-"});
    last = each.by;
  }
  return table.text(style);
}

std::string rows_text(const Backtest& backtest, bool all_rows, const TextStyle& style) {
  std::vector<const BacktestRow*> rows;
  for (const BacktestRow& row : backtest.rows) {
    if (row.error) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const BacktestRow* a, const BacktestRow* b) {
    return std::abs(*a->error) > std::abs(*b->error);
  });
  const std::size_t shown = all_rows ? rows.size() : std::min(rows.size(), k_worst_rows);
  if (shown == 0) return {};
  std::vector<TableColumn> columns{
      {"row", Align::left}, {"figure", Align::left, false, 8, 1}, {"published"}, {"predicted"}, {"error"}};
  if (backtest.has_bands) columns.push_back({"band"});
  TextTable table(std::move(columns), "  ");
  for (std::size_t i = 0; i < shown; ++i) {
    const BacktestRow& row = *rows[i];
    table.add({row.id + (row.nearest.empty() ? "" : " *"), row.figure, figure_text(row, row.published),
               figure_text(row, row.predicted), signed_percent(*row.error),
               row.low ? figure_text(row, row.low) + " to " + figure_text(row, row.high) : ""});
  }
  std::string text = shown == rows.size()
                         ? std::string("\nrows, the worst first\n")
                         : fmt::format("\nthe {} worst rows (--all shows {})\n", shown, rows.size());
  text += table.text(style);
  if (std::any_of(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(shown),
                  [](const BacktestRow* row) { return !row->nearest.empty(); }))
    text += "  * the scenario is the nearest to that run: --row ID says in what it differs\n";
  return text;
}

std::string reasons_text(const Backtest& backtest, const TextStyle& style) {
  std::map<std::string, int> counts;
  for (const BacktestRow& row : backtest.rows) {
    if (!row.reason.empty()) ++counts[row.reason.substr(0, row.reason.find('\n'))];
  }
  if (counts.empty()) return {};
  std::vector<std::pair<std::string, int>> reasons(counts.begin(), counts.end());
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  TextTable table({{""}, {"", Align::left, true, 40}}, "  ");
  for (const auto& [reason, count] : reasons) table.add({std::to_string(count), reason});
  return "\nwithout a prediction, by reason\n" + table.text(style);
}

template <std::size_t N>
std::string verdict_counts(const std::array<int, N>& counts) {
  std::string text;
  for (const Word<Fit>& word : k_words<Fit>)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word.text,
                        counts[static_cast<std::size_t>(word.value)]);
  return text;
}

std::string verdicts_text(const BacktestVerdicts& verdicts) {
  return fmt::format("\ndoes it fit?\n  of runs that ran: {}\n  of runs that were out of memory: {}\n",
                     verdict_counts(verdicts.ran), verdict_counts(verdicts.ran_out_of_memory));
}

std::string bands_text(const Backtest& backtest) {
  if (!backtest.has_bands) return {};
  if (!backtest.within_bands) return "\ntoo few sources for bands\n";
  return fmt::format("\n{} of the published figures lie in the {:.0f} % band of the other sources\n",
                     percent(*backtest.within_bands), backtest.band_part * 100);
}

}  // namespace

std::string backtest_table(const Backtest& backtest, bool all_rows, const TextStyle& style) {
  return heading(backtest) + summary_text(backtest, style) + rows_text(backtest, all_rows, style) +
         bands_text(backtest) + verdicts_text(backtest.verdicts) + reasons_text(backtest, style);
}

}  // namespace shardlab
