#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/tables.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

std::string joined_tags(const std::vector<std::string>& tags) {
  std::string text;
  for (const std::string& tag : tags) text += (text.empty() ? "" : " ") + tag;
  return text;
}

TableCell peak_cell(const RunEntry& run) {
  const bool too_much = run.fits.has_value() && !*run.fits;
  if (!run.peak_allocated) return "-";
  return {(too_much ? "! " : "") + to_string(*run.peak_allocated), too_much ? Tone::bad : Tone::plain};
}

}  // namespace

std::string history_table(std::span<const RunEntry> runs, const TextStyle& style) {
  if (runs.empty()) return "no runs\n";
  TextTable table({{.title = "run"},
                   {.title = "kind", .align = Align::left},
                   {.title = "name", .align = Align::left, .elastic = true, .least = 14},
                   {.title = "created (UTC)", .align = Align::left, .drop = 3},
                   {.title = "strategy", .align = Align::left, .drop = 4},
                   {.title = "ranks", .drop = 2},
                   {.title = "step"},
                   {.title = "tokens/s"},
                   {.title = "peak"},
                   {.title = "loss"},
                   {.title = "tags", .align = Align::left, .elastic = true, .drop = 1}});
  for (const RunEntry& run : runs) {
    const bool finished = run.step_time.value > 0;  // memory may have ended it before
    table.add({to_string(run.id), std::string(to_string(run.kind)), run.name, format_created(run.created),
               run.strategy, fmt::format("{}", run.ranks), finished ? to_string(run.step_time) : "-",
               run.tokens_per_second > 0 ? rate(run.tokens_per_second) : "-", peak_cell(run),
               run.last_loss ? fmt::format("{:.3f}", *run.last_loss) : "", joined_tags(run.tags)});
  }
  return table.text(style);
}

}  // namespace shardlab
