// The machines that `shardlab doctor` looks at: this one, those of a launcher's processes, or recorded ones.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/cli/console.h"
#include "engine/machine/machine_facts.h"

namespace shardlab {

struct MachineRequest {
  bool here = false;   // --machine
  std::string from;    // a folder of records; empty: none
  std::string record;  // where the records of --machine go; empty: nowhere

  bool is_asked() const { return here || !from.empty(); }
};

using Machines = std::vector<MachineFacts>;

// Calls `report` with the machines; null where none are asked for. Where a launcher (torchrun, srun, mpirun)
// started this process as one of several, each of them looks at its machine and rank 0 alone reports: the
// others end with its exit code. They meet in a folder of the current directory that all of them see; a rank
// that does not come within a minute is named in a note, and left out. Errors: bad_input for options that do
// not go together, records that cannot be read, and a launcher's variables that make no sense; those of
// `report`.
Result<int> with_machines(const MachineRequest& request, Console& console,
                          const std::function<Result<int>(const Machines* machines)>& report);

}  // namespace shardlab
