// What the present prediction is to another one that was kept: the effect of the edits between them.
#pragma once

#include <string>

#include "gui/view_model/data_table.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

// The baseline, the run now and what lies between: peak, step time, tokens per second, exposed communication
// and whether it fits. No row is good or bad but that of fits.
DataTable baseline_table(const LoadedRun& baseline, const LoadedRun& now);

// The same in a line: "peak -3.2 GiB, step +4.1 %, fits as before"; "as the baseline" where nothing changed.
std::string baseline_words(const LoadedRun& baseline, const LoadedRun& now);

}  // namespace shardlab::view
