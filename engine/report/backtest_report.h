// A backtest as text and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/report/terminal.h"
#include "engine/trace/backtest.h"

namespace shardlab {

// The summary by groups, the rows with the largest errors first, the reasons of those without a prediction,
// and the verdicts. With `all_rows` every row with a prediction, else the ten worst.
std::string backtest_table(const Backtest& backtest, bool all_rows, const TextStyle& style);

// docs/json.md, `backtest`.
nlohmann::ordered_json backtest_json(const Backtest& backtest);

}  // namespace shardlab
