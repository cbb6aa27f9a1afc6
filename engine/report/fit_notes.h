// What stands beside the word of a verdict on memory.
#pragma once

#include <string>
#include <vector>

#include "engine/trace/run_summary.h"

namespace shardlab {

// Lines for a narrow column, for a run that `fits` is known of. The chance alone where it decided; else the
// reason first, and the chance as that of the steps: a save that is too large, or an allocator that gives
// memory back, says nothing of it.
std::vector<std::string> fit_notes(const RunSummary& run);

}  // namespace shardlab
