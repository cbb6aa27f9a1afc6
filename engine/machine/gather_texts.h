// The texts of the machine that the program runs on, as this process sees it.
#pragma once

#include <map>
#include <string>

#include "engine/machine/machine_texts.h"

namespace shardlab {

// Reads /proc, /sys and the own limits, asks the resolver for the own name, tries the head of the job where
// MASTER_ADDR and MASTER_PORT are set (head_contact.h), and runs nvidia-smi and python3 where they are there,
// each for ten seconds at most. Of the variables only those are kept that concern a training, and none whose
// name speaks of a secret. What cannot be had has no text.
MachineTexts gather_texts(const std::map<std::string, std::string, std::less<>>& environment);

}  // namespace shardlab
