// Tasks of srun that start a launcher each, where one a machine is meant.
//
// Source: srun of Slurm 24.05; torch 2.11, distributed/elastic/rendezvous/dynamic_rendezvous.py.
#pragma once

#include "engine/formats/launchers/launch_script.h"

namespace shardlab {

// Adds a warning with what will run where srun starts the launcher of the command several times on a machine.
void warn_of_tasks(const RankCommand& command, LaunchScript& script);

}  // namespace shardlab
