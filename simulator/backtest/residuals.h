// How far predicted times were from published ones, as a file that later predictions read
// (simulator/search/time_errors.h).
#pragma once

#include <string>

#include "engine/trace/backtest.h"
#include "simulator/backtest/published_table.h"

namespace shardlab {

// YAML: every predicted run with its series, a number that runs of one source, framework, version, model,
// sequence and GPU share, and published over predicted time. `backtest` is one of time over the same table.
std::string residuals_text(const PublishedTable& table, const Backtest& backtest);

}  // namespace shardlab
