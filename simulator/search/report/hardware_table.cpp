// What other hardware would change of the best. The row of memory is that of what is the best with it.
#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/text_table.h"
#include "simulator/search/report/search_tables.h"
#include "simulator/search/report/search_words.h"

namespace shardlab {
namespace {

// "with 99.0 GiB a rank the best is train.micro_batch 4 instead of 2".
std::string line_of_best(const SearchQuestion& question, const OtherHardware& row, const Candidate& best,
                         int width) {
  if (!row.asked_who_is_best) return {};
  std::string text = fmt::format("with {} a rank ", row.own.to);
  text += row.best_then ? "the best is " + instead(question, row.best_then->configuration, best.configuration)
                        : "it stays the best";
  if (row.untried > 0) text += fmt::format("; {} that may be better were not tried", row.untried);
  return wrapped("  ", {text}, width);
}

std::vector<TableCell> cells_of(const OtherHardware& row, const Candidate& best, bool priced) {
  std::vector<TableCell> cells = {fmt::format("{} {}", row.what, row.own.to)};  // "network twice as fast"
  if (!row.own.candidate) {
    cells.resize(priced ? 5 : 4, "-");
    cells.push_back("not possible: " + row.own.refused);
    return cells;
  }
  const Candidate& then = row.best_then ? *row.best_then : *row.own.candidate;
  cells.push_back(signed_percent(change(then.costs.time, best.costs.time)));
  if (priced)
    cells.push_back(then.costs.money ? signed_percent(change(*then.costs.money, *best.costs.money)) : "-");
  cells.push_back(signed_bytes(then.figures.memory() - best.figures.memory()));
  cells.push_back(fit_cell(then.figures));
  return cells;
}

}  // namespace

std::string hardware_table(const SearchReport& report, const TextStyle& style) {
  const Leader* const leader = leader_of(report);
  if (leader == nullptr || report.hardware.empty()) return {};
  const Candidate& best = *leader->best;
  const bool priced = best.costs.money.has_value();
  std::vector<TableColumn> columns = {{"hardware", Align::left}, {"time", Align::right}};
  if (priced) columns.push_back({"money", Align::right});
  columns.push_back({"memory", Align::right});
  columns.push_back({"fits", Align::right});
  columns.push_back({"", Align::left, true, 8});
  TextTable table(columns, "  ");
  std::string lines;
  for (const OtherHardware& row : report.hardware) {
    table.add(cells_of(row, best, priced));
    lines += line_of_best(report.question, row, best, style.width);
  }
  return fmt::format("\nthe best for {} on other hardware{}\n", order_words(leader->order),
                     priced ? " at the same price" : "") +
         table.text(style) + lines;
}

}  // namespace shardlab
