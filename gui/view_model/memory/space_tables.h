// Memory outside the device, and what a step moves between the spaces.
#pragma once

#include <string>

#include "gui/view_model/data_table.h"
#include "gui/view_model/loaded_run.h"

namespace shardlab::view {

// "device", "pinned host".
std::string space_words(MemorySpace space);

// Whether a run holds anything outside the device, or moves anything there.
bool leaves_the_device(const LoadedRun& run);

// A row a space that the run uses: what lies there between steps, and at most. No rows without a record of
// memory.
DataTable spaces_table(const LoadedRun& run);

// A row a way between two spaces: how often a rank goes it in a step, and with how many bytes.
DataTable transfers_table(const LoadedRun& run);

}  // namespace shardlab::view
