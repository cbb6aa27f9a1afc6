// A training program's record on its way into the database.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

// The record in `path` as a measured run of the scenario that the program was written from, so that it
// compares with the scenario's prediction. Errors of import_training_record(); of the scenario in it those of
// parse_scenario() and plan_scenario().
Result<RunRecord> record_of_training(const std::filesystem::path& path);

}  // namespace shardlab
