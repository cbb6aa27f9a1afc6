// Reads the rows of steps, spans and memory back to traces.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/store/run_record.h"

namespace shardlab {

// In the order of the steps.
std::vector<StepHeader> read_step_headers(SQLite::Database& db, std::int64_t run);

// With its spans and memory; no ranks when there is no such step.
StepTrace read_step(SQLite::Database& db, std::int64_t run, std::int64_t step);

// Steps, warm-up, losses and norms; not the provenance.
RunTrace read_steps(SQLite::Database& db, std::int64_t run);

// Losses and norms of every step from the first.
void read_training(SQLite::Database& db, std::int64_t run, std::vector<double>& losses,
                   std::vector<double>& norms);

}  // namespace shardlab
