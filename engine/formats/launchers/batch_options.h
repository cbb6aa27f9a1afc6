// Options of sbatch in the #SBATCH lines of a script.
//
// Source: sbatch of Slurm 24.05.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/formats/foreign/foreign_value.h"
#include "engine/formats/launchers/shell_commands.h"
#include "engine/scenario/problems.h"

namespace shardlab {

// Adds the options, by their long names with underscores, to `batch`; unknown ones are complaints.
void read_batch_options(const std::vector<ShellWord>& words, ForeignValue& batch, Problems& problems);

// Variables that Slurm sets for a job with these options: SLURM_NNODES and its like.
std::map<std::string, ShellWord> batch_variables(std::span<const ShellWord> words);

// A word as a text; its flag is set where a variable in it is open: what it says is known when it runs.
ForeignValue shell_value(const ShellWord& word);

// "nproc-per-node" as "nproc_per_node": launchers take both.
std::string option_name(std::string name);

}  // namespace shardlab
