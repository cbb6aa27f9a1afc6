// Tables of published runs: a run a row, under the columns of assets/backtest/published_runs.csv, which its
// README explains. A cell is text as the file has it; an empty one is what the source does not say.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"

namespace shardlab {

struct PublishedRun {
  int line = 0;                              // of the file
  std::map<std::string, std::string> cells;  // by column; empty ones are left out

  // Empty for a cell that is empty or a column that the table does not have.
  const std::string& cell(const std::string& column) const;
  // The cell of a column of numbers; nothing where it is empty.
  std::optional<double> number(const std::string& column) const;
  bool ran_out_of_memory() const;
};

struct PublishedTable {
  std::string name;  // the file
  std::vector<PublishedRun> runs;

  const PublishedRun* find(std::string_view id) const;
};

// All columns that a table may have; those that it must have come first.
const std::vector<std::string>& published_columns();

// What follows from columns, under names of its own that rules may use as well: `node_gpus`, the GPUs of a
// node that the run used (of 8 where the source does not say how many a node has), `nodes`, how many nodes
// that makes, and `replicas`, the nodes again under the name of what hybrid sharding makes of them. Absent
// where GPUs do not fill nodes.
const std::vector<std::string>& derived_columns();

// bad_input with file and line, up to ten mistakes together: columns that are missing or unknown, an id that
// is missing or there twice, what is no number in a column of numbers, or no word of a column of words.
Result<PublishedTable> read_published(std::string_view text, std::string_view name);

}  // namespace shardlab
