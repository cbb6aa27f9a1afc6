// A backtest: published runs become scenarios by rules, are predicted, and errors are added up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/scenario/scenario.h"
#include "engine/trace/backtest.h"
#include "engine/trace/run_summary.h"
#include "simulator/backtest/published_table.h"
#include "simulator/backtest/source_rules.h"
#include "simulator/calibrate/calibration.h"

namespace shardlab {

struct BacktestSettings {
  BacktestMetric metric = BacktestMetric::memory;
  std::vector<std::string> settings;  // for every scenario, as for --set
  bool leave_one_source_out = false;  // sets bands ...
  double band_part = 0.8;             // ... that should hold so much of the published figures
  int threads = 1;
  // The calibration for a scenario; none where there is none. Called from several threads at once.
  // Not asked for GPUs: published runs had older libraries than those that a calibration measures.
  std::function<Result<std::optional<Calibration>>(const Scenario&)> calibration_for = {};
  // Called after every row, by one thread at a time.
  std::function<void(int done, int of)> progress = {};
};

// The prediction of a scenario's text, without the hash of its plan. Errors: those of reading, planning and
// simulating it.
Result<RunSummary> predict_row(const std::string& yaml, const std::string& name,
                               const BacktestSettings& settings);

// One row for each figure of the metric that the table has, and for each run that failed for want of memory.
// Whatever is wrong with a row is its reason. The same inputs give the same result, whatever the threads.
Backtest run_backtest(const PublishedTable& table, const std::vector<SourceRule>& rules,
                      const BacktestSettings& settings);

// Sets what follows from the rows: summary and verdicts.
void add_up(Backtest& backtest);

}  // namespace shardlab
