// What machines are, in a line. Private to the doctor.
#pragma once

#include <string>
#include <vector>

#include "engine/machine/machine_facts.h"

namespace shardlab {

// "node1 and 7 others: 8 x NVIDIA H100 80GB HBM3, driver 580.95.05, torch 2.11.0, ..."; a sentence for each
// kind of machine, the first few.
std::string words_of(const std::vector<MachineFacts>& machines);

}  // namespace shardlab
