// Which figure of a run a published row has, and where a prediction has the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/trace/backtest.h"
#include "engine/trace/run_summary.h"
#include "simulator/backtest/published_table.h"

namespace shardlab {

struct PublishedFigure {
  std::string figure;  // as in a run's JSON
  std::string kind;    // how it was measured: a key of summaries
  double value = 0;    // bytes or tokens/s
};

// Memory: of how it was measured (`memory_kind`) follows which of a run's peaks it is. allocated and active
// sit in the column of that name, the others in that of reserved: nvidia-smi shows what the device has given
// away, and what a source does not name is taken for reserved. A cell with two kinds has two figures.
//
// Time: tokens per second and GPU; where the source prints step times only, the tokens of a step by it.
std::vector<PublishedFigure> published_figures(const PublishedRun& run, BacktestMetric metric);

// The predicted figure; nothing where the prediction has none.
std::optional<double> predicted_figure(const RunSummary& summary, const std::string& figure);

}  // namespace shardlab
