// The rows of the steps of a run: steps, spans, memory.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "engine/trace/step_trace.h"

namespace shardlab {

using PlanIds = std::map<std::string, std::int64_t, std::less<>>;  // hash -> row

// Every step's plan_hash must be in `plans`.
void write_trace(SQLite::Database& db, std::int64_t run, const RunTrace& trace, const PlanIds& plans);

// The columns of the table memory after step_id and instruction, "live, peak, live_parameter ...": one for
// each class, in their order.
std::string memory_columns();

}  // namespace shardlab
