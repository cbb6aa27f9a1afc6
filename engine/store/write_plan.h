// The rows of a plan.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <string>

#include "engine/plan/step_plan.h"

namespace shardlab {

// The id of the plan's row; writes it, with its instructions, when the database has no plan of this hash yet.
std::int64_t write_plan(SQLite::Database& db, const StepPlan& plan, const std::string& hash);

}  // namespace shardlab
