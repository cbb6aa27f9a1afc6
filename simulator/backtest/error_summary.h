// Statistics over the rows of a backtest. Pure; nothing here knows what the figures are of.
#pragma once

#include <vector>

#include "engine/trace/backtest.h"

namespace shardlab {

// The value below which the share `part` of the values lies, between neighbours in proportion; `values` in
// any order and not empty, `part` from 0 to 1.
double quantile(std::vector<double> values, double part);

// Under "all", then under each group that rows name: by what in the order in which rows name it, keys by
// number of rows.
std::vector<BacktestSummary> summarize_errors(const std::vector<BacktestRow>& rows);

BacktestVerdicts count_verdicts(const std::vector<BacktestRow>& rows);

}  // namespace shardlab
