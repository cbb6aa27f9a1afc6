// Comments of a shell script, among them the lines that are meant for sbatch.
#pragma once

#include <vector>

#include "engine/formats/launchers/shell_input.h"

namespace shardlab {

// Passes the comment at the cursor, to the end of its line. Of a `#SBATCH` line the words are added to
// `batch`, and the variables that Slurm sets by them to those of the script.
void read_comment(ShellInput& input, std::vector<ShellWord>& batch);

}  // namespace shardlab
