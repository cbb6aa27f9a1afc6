// Where the ranks of a scenario swap to, and what a launcher does about it.
#pragma once

#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/execute/swap/swap_drive.h"
#include "engine/scenario/scenario.h"

namespace shardlab {

// Where and how a rank swaps, under a run's name; an empty one stands for this process. A relative path of
// cluster.nvme.path starts from the scenario's folder.
SwapOptions swap_options(const Scenario& scenario, const std::string& run, int rank);

// A rank's files. Errors: bad_input when the folder is not there or may not be written to, else those of
// SwapDrive::open().
Result<std::shared_ptr<SwapDrive>> open_swap_drive(const Scenario& scenario, const std::string& run,
                                                   int rank);

// A name that no other run on this machine has.
std::string new_swap_run();

// Nothing of a run that is over stays on the drive, however it ended; nothing where nothing was swapped.
void clear_swap(const Scenario& scenario, const std::string& run);

}  // namespace shardlab
