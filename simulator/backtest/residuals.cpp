#include "simulator/backtest/residuals.h"

#include <map>
#include <vector>

#include <fmt/format.h>

namespace shardlab {
namespace {

std::vector<std::string> group_of(const PublishedRun& run) {
  std::vector<std::string> cells;
  for (const char* column :
       {"source_repo_or_paper", "framework", "framework_version", "model", "seq_len", "gpu"})
    cells.push_back(run.cell(column));
  return cells;
}

}  // namespace

std::string residuals_text(const PublishedTable& table, const Backtest& backtest) {
  std::string text = fmt::format(
      "# Published over predicted step times of {}. Made by: shardlab backtest --residuals FILE\ncases:\n",
      backtest.table);
  std::map<std::vector<std::string>, std::size_t> groups;
  for (const BacktestRow& row : backtest.rows) {
    const PublishedRun* const run = table.find(row.id);
    if (run == nullptr || !row.error) continue;
    const auto group = groups.try_emplace(group_of(*run), groups.size() + 1).first->second;
    // Rates: the higher is the shorter.
    text += fmt::format("  - {{case: {}, series: \"{}\", group: {}, ratio: {:.5f}}}\n", row.id, row.series,
                        group, *row.predicted / *row.published);
  }
  return text;
}

}  // namespace shardlab
