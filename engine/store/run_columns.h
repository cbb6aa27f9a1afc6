// The columns of the table `runs` that hold figures of its summary, as the rows of trace/run_figures.h say.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <string>

#include "engine/trace/run_entry.h"
#include "engine/trace/run_summary.h"

namespace shardlab {

// "step_time_ns, tokens_per_second, ...", in the order of the two functions below.
std::string run_columns();
int run_column_count();

// Binds the columns of `run` to the parameters from `first` on.
void bind_columns(SQLite::Statement& insert, int first, const RunSummary& run);

// Reads the result's columns from `first` on.
void read_columns(SQLite::Statement& query, int first, RunEntry& entry);

}  // namespace shardlab
