// Steps of a run as comma-separated values, one line an instruction, for spreadsheets and data frames (RFC
// 4180).
#pragma once

#include <string>

#include "engine/formats/chrome_trace.h"

namespace shardlab {

// Columns: run, step, rank, instruction, kind, stream, unit, segment, micro_batch, bytes, issue_ns, ready_ns,
// start_ns, end_ns, skipped, live_bytes, peak_bytes. Times count from the start of the step on the rank; an
// absent value is an empty field.
std::string trace_csv(std::span<const TracedRun> runs);

}  // namespace shardlab
