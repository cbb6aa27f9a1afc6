// Backtests in the database. Without the transaction around them.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

// `created` 0: now. Returns the id.
std::int64_t write_backtest(SQLite::Database& db, const Backtest& backtest, std::int64_t created);

// bad_input for values that no backtest writes: another program changed the file.
Result<std::optional<BacktestEntry>> read_latest_backtest(SQLite::Database& db, BacktestMetric metric);

}  // namespace shardlab
