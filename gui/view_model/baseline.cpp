#include "gui/view_model/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/report/figures.h"
#include "engine/report/run_difference.h"
#include "gui/view_model/run_titles.h"
#include "gui/view_model/why.h"

namespace shardlab::view {
namespace {

// By name of a metric. On a GPU what the device holds decides, elsewhere the live tensors.
constexpr std::string_view k_step_time = "step_time";  // the metric
constexpr std::array k_rows = {std::string_view("peak_device"), std::string_view("peak_allocated"),
                               k_step_time, std::string_view("tokens_per_second"),
                               std::string_view("exposed_communication")};

AlternativeRun alternative(const LoadedRun& run) {
  return {run.record.summary, run.record.trace, run.plan()};
}

Cell figure_cell(const DifferenceRow& row, std::optional<double> value) {
  Cell cell{metric_figure(row.metric, value, row.unit), value};
  if (!value) cell.tone = CellTone::faint;
  return cell;
}

Cell change_cell(const DifferenceRow& row) {
  if (!row.first || !row.second) return text_cell("-", CellTone::faint);
  const std::optional<double> change =
      *row.first == 0 ? std::nullopt : std::optional(*row.second / *row.first - 1);
  std::string text = difference_words(row);
  if (row.unit == MetricUnit::bytes && *row.first != *row.second) {
    const double more = *row.second - *row.first;
    text += fmt::format(" ({}{})", more < 0 ? "-" : "+", metric_figure(std::abs(more), MetricUnit::bytes));
  }
  return {std::move(text), change};
}

CellTone tone_of(const std::optional<Fit>& fits) {
  if (!fits) return CellTone::faint;
  return *fits == Fit::yes ? CellTone::good : *fits == Fit::unsure ? CellTone::fair : CellTone::bad;
}

std::string words_of(const std::optional<Fit>& fits) {
  return fits ? std::string(to_string(*fits)) : "-";
}

Row fits_row(const RunSummary& before, const RunSummary& now) {
  Row row;
  row.cells = {text_cell("fits"), text_cell(words_of(before.fits), tone_of(before.fits)),
               text_cell(words_of(now.fits), tone_of(now.fits)),
               text_cell(before.fits == now.fits ? "same" : "changed")};
  return row;
}

std::vector<DifferenceRow> rows_of(const LoadedRun& baseline, const LoadedRun& now) {
  const RunDifference difference = difference_of(alternative(baseline), alternative(now));
  std::vector<DifferenceRow> rows;
  for (const std::string_view name : k_rows) {
    const auto found = std::find_if(difference.totals.begin(), difference.totals.end(),
                                    [name](const DifferenceRow& row) { return row.metric == name; });
    if (found != difference.totals.end() && (found->first || found->second)) rows.push_back(*found);
  }
  return rows;
}

}  // namespace

DataTable baseline_table(const LoadedRun& baseline, const LoadedRun& now) {
  const auto figures = [](const LoadedRun& run) {
    return Meaning{"a figure of the whole run", source_of(run)};
  };
  DataTable table{"baseline",
                  {{.title = "", .numeric = false},
                   {.title = "baseline", .meaning = figures(baseline)},
                   {.title = "now", .meaning = figures(now)},
                   {.title = "difference",
                    .unit = "fraction",
                    .meaning = {"now divided by the baseline, less one", "this table"}}},
                  {}};
  for (const DifferenceRow& row : rows_of(baseline, now)) {
    std::string name = row.name;
    if (row.metric == "peak_device") name = "peak on the device";
    table.rows.push_back({{text_cell(std::move(name)), figure_cell(row, row.first),
                           figure_cell(row, row.second), change_cell(row)}});
  }
  table.rows.push_back(fits_row(baseline.record.summary, now.record.summary));
  table.explain = [](const DataTable& its, std::size_t row, std::size_t column, Why& why) {
    if (column != 3 || !its.rows[row].cells[3].number) return;
    why.arithmetic = Arithmetic::error;
    why.parts = {part_of(its, row, 2), part_of(its, row, 1)};
  };
  return table;
}

std::string baseline_words(const LoadedRun& baseline, const LoadedRun& now) {
  std::string text;
  const auto add = [&text](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  bool has_peak = false;
  for (const DifferenceRow& row : rows_of(baseline, now)) {
    if (!row.first || !row.second || *row.first == *row.second) continue;
    const bool is_peak = row.unit == MetricUnit::bytes;
    if (is_peak && !has_peak) {
      const double more = *row.second - *row.first;
      add(fmt::format("peak {}{}", more < 0 ? "-" : "+", metric_figure(std::abs(more), row.unit)));
    } else if (row.metric == k_step_time) {
      add("step " + difference_words(row));
    }
    has_peak = has_peak || is_peak;
  }
  const auto &before = baseline.record.summary.fits, &after = now.record.summary.fits;
  if (before != after) add(fmt::format("fits {} (was {})", words_of(after), words_of(before)));
  return text.empty() ? "as the baseline" : text;
}

}  // namespace shardlab::view
