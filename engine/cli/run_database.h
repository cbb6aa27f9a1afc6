// The database that a command's --db names.
#pragma once

#include "engine/cli/command_options.h"
#include "engine/store/run_store.h"

namespace shardlab {

// Opens the database for commands that only look: a missing file is bad_input.
Result<RunStore> open_runs(const CommonOptions& options);

// Opens the database for commands that store runs: makes the file and its folder.
Result<RunStore> open_or_create_runs(const CommonOptions& options);

}  // namespace shardlab
