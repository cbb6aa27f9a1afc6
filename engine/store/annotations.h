// Rows that are added to runs later: tags, notes, calibrations, comparisons. Without the transaction around
// them.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/store/run_record.h"

namespace shardlab {

// A tag may not be empty and holds no control characters: else bad_input.
Status check_tag(std::string_view tag);

std::int64_t write_calibration(SQLite::Database& db, const CalibrationRecord& calibration);
// Newest first; of one machine, or of all when there is none given.
std::vector<CalibrationRecord> read_calibrations(SQLite::Database& db,
                                                 std::optional<std::string_view> machine, int limit);

std::int64_t write_comparison(SQLite::Database& db, RunId predicted, RunId measured,
                              const Comparison& comparison);
// Newest first.
std::vector<ComparisonEntry> read_comparisons(SQLite::Database& db, RunId id);

}  // namespace shardlab
