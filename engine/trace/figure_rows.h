// The rows of run_figures.h without their types: for words about figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/trace/summary_figure.h"

namespace shardlab {

struct FigureRow {
  std::string path;  // in JSON: "memory.peak_allocated", "communication[].bytes"
  std::string type;  // as docs/json.md names types: "int", "number?"
  FigureFacts facts;
};

// Every figure of a run, also those in structs and in the elements of lists. Order: that of the JSON.
const std::vector<FigureRow>& figure_rows();

// The row of a metric ("step_time", "peak.activation"), of a column ("last_loss") or of a field of the run
// itself ("fits"); null for a name that is none.
const FigureRow* find_figure(std::string_view name);

// The table of fields in docs/json.md, in Markdown: `shardlab show --document` prints it.
std::string figure_reference();

}  // namespace shardlab
