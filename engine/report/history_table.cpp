#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

constexpr int k_roomy = 120;  // columns from which on keys are written out, before other things are told

TableCell peak_cell(const RunEntry& run) {
  const bool too_much = run.fits == Fit::no;
  if (!run.peak_allocated) return "-";
  return {(too_much ? "! " : "") + to_string(*run.peak_allocated), too_much ? Tone::bad : Tone::plain};
}

std::vector<TableColumn> history_columns(bool with_changes, int width) {
  std::vector<TableColumn> columns{
      {.title = "run"},
      {.title = "kind", .align = Align::left},
      {.title = "name", .align = Align::left, .elastic = true, .least = with_changes ? 8 : 14}};
  // Runs of one name are told apart by what they changed, so it goes last but for the figures.
  if (with_changes)
    columns.push_back(
        {.title = "changed", .align = Align::left, .elastic = true, .least = width >= k_roomy ? 40 : 16});
  const std::vector<TableColumn> others{
      {.title = "created (UTC)", .align = Align::left, .drop = 1},
      {.title = "strategy", .align = Align::left, .drop = 5},
      {.title = "machine", .align = Align::left, .elastic = true, .least = 12, .drop = 6},
      {.title = "operators", .align = Align::left, .drop = 4},
      {.title = "ranks", .drop = 2},
      {.title = "step"},
      {.title = "tokens/s"},
      {.title = "peak"},
      {.title = "loss", .drop = 7},
      {.title = "tags", .align = Align::left, .elastic = true, .drop = 3}};
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

std::vector<TableCell> history_cells(const RunEntry& run) {
  const bool finished = run.step_time.value > 0;  // memory may have ended it before
  return {format_created(run.created),
          run.strategy,
          run.machine,
          run.implementation ? std::string(to_string(*run.implementation)) : "",
          run.ranks > 0 ? fmt::format("{}", run.ranks) : "-",
          finished ? to_string(run.step_time) : "-",
          run.tokens_per_second > 0 ? rate(run.tokens_per_second) : "-",
          peak_cell(run),
          run.last_loss ? fmt::format("{:.3f}", *run.last_loss) : "",
          fmt::format("{}", fmt::join(run.tags, " "))};
}

}  // namespace

std::string history_table(std::span<const RunEntry> runs, const TextStyle& style,
                          std::span<const ChangedSettings> changed) {
  if (runs.empty()) return "no runs\n";
  const bool with_changes =
      std::any_of(changed.begin(), changed.end(), [](const ChangedSettings& its) { return !its.empty(); });
  TextTable table(history_columns(with_changes, style.width));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<TableCell> cells{to_string(runs[i].id), std::string(to_string(runs[i].kind)), runs[i].name};
    if (with_changes)
      cells.push_back(i < changed.size() ? changed_text(changed[i], style.width >= k_roomy) : "");
    const std::vector<TableCell> others = history_cells(runs[i]);
    cells.insert(cells.end(), others.begin(), others.end());
    table.add(std::move(cells));
  }
  return table.text(style);
}

}  // namespace shardlab
