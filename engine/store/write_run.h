// The rows of a run, without the transaction around them.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

// The hashes of a run's plans.
struct PlanHashes {
  std::string setup;
  std::string first;
  std::string second;  // empty: there is none
  std::string steady;
};
PlanHashes hashes_of(const RunPlan& plan);

// Checks that every step of the trace follows one of the plans, that no step is there twice, and that the
// summary is of the steady plan; else the record is bad_input.
Status check_run_record(const RunRecord& run, const PlanHashes& hashes);

// Writes a record that was checked, and returns the id of the run.
std::int64_t write_run(SQLite::Database& db, const RunRecord& run, const PlanHashes& hashes);

// Seconds since 1970-01-01 UTC, for what has no time yet.
std::int64_t created_or_now(std::int64_t created);

}  // namespace shardlab
