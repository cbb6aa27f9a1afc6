// From texts of a machine to facts. Never fails: a text that is not as it should be says nothing.
#pragma once

#include "engine/machine/known_variables.h"
#include "engine/machine/machine_facts.h"
#include "engine/machine/machine_texts.h"

namespace shardlab {

MachineFacts read_facts(const RecordedMachine& machine, const KnownVariables& known);

// Devices that a process of the machine sees: all, or as many as CUDA_VISIBLE_DEVICES names.
int visible_gpus(const MachineFacts& machine);

}  // namespace shardlab
