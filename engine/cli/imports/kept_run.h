// The folder of a real run whose ranks have finished, on its way into the database: kept by --keep-spool, or
// because the database could not take the run.
#pragma once

#include <filesystem>

#include "engine/base/result.h"
#include "engine/cli/stored_runs.h"

namespace shardlab {

// Whether the path is a folder with the job of a training's ranks.
bool is_kept_run(const std::filesystem::path& path);

// Plans the scenario of the job again, gathers what the ranks wrote, and saves it as `run` would have. Also a
// run that memory ended. Errors: bad_input for spools of another plan or that are damaged, run_failed for
// ranks that did not finish, and those of RunStore::save.
Result<FinishedRun> store_kept_run(const std::filesystem::path& folder, RunStore& store);

}  // namespace shardlab
