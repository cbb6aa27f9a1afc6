// Reads the rows of runs and plans back to values.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

// Newest first.
std::vector<RunEntry> read_entries(SQLite::Database& db, const RunFilter& filter);

// These fail with bad_input when there is no such run; `database` is its file.
Result<RunEntry> read_entry(SQLite::Database& db, const Place& database, RunId id);
Result<RunId> find_run(SQLite::Database& db, const Place& database, std::string_view reference);
Result<std::string> read_run_scenario(SQLite::Database& db, const Place& database, RunId id);
Result<RunSummary> read_run_summary(SQLite::Database& db, const Place& database, RunId id);
Result<RunPlan> read_run_plan(SQLite::Database& db, const Place& database, RunId id);
Result<RunRecord> read_run(SQLite::Database& db, const Place& database, RunId id);

}  // namespace shardlab
