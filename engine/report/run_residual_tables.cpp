#include <algorithm>

#include <fmt/format.h>

#include "engine/report/figures.h"
#include "engine/report/run_residuals.h"
#include "engine/report/text_table.h"

namespace shardlab {
namespace {

std::string pairs_part(const std::vector<ResidualPair>& pairs, const TextStyle& style) {
  TextTable table({{"measured", Align::left},
                   {"predicted", Align::left},
                   {"scenario", Align::left, true, 14},
                   {"step predicted"},
                   {"measured"},
                   {"error"},
                   {"", Align::left, false, 8, 1}});
  for (const ResidualPair& pair : pairs) {
    table.add({to_string(pair.measured), to_string(pair.predicted), pair.name, to_string(pair.predicted_step),
               to_string(pair.measured_step), signed_percent(pair.error()),
               pair.calibrated ? "calibrated" : "shipped figures"});
  }
  return table.text(style);
}

std::string rows_part(const std::string& title, const std::vector<ResidualRow>& rows, std::size_t most,
                      const TextStyle& style) {
  if (rows.empty()) return "";
  TextTable table({{title, Align::left, true, 20},
                   {"runs", Align::right, false, 8, 1},
                   {"count", Align::right, false, 8, 2},
                   {"predicted"},
                   {"measured"},
                   {"bias"},
                   {"median"},
                   {"of the error"}});
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const ResidualRow& row = rows[i];
    table.add({row.name, fmt::format("{}", row.runs), grouped(row.count), to_string(row.predicted),
               to_string(row.measured), signed_percent(row.bias()), percent(row.median), percent(row.share)});
  }
  std::string text = "\n" + table.text(style);
  if (rows.size() > most) text += fmt::format("  and {} smaller\n", rows.size() - most);
  return text;
}

}  // namespace

std::string residual_tables(const Residuals& residuals, std::size_t most, const TextStyle& style) {
  return pairs_part(residuals.pairs, style) +
         rows_part("instructions", residuals.kinds, residuals.kinds.size(), style) +
         rows_part("alike", residuals.parts, most, style) +
         rows_part("operators", residuals.operators, most, style) +
         "\nbias: of the sums of a step; median: of the errors one by one; of the error: a row's part of "
         "what all rows are off by\n";
}

}  // namespace shardlab
