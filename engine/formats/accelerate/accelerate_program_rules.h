// Lines of a program that trains with accelerate's Accelerator.
//
// Source: accelerate 1.15.0, accelerator.py, utils/dataclasses.py.
#pragma once

#include <span>

#include "engine/formats/tools/setting_rule.h"

namespace shardlab {

std::span<const SettingRule> accelerate_program_rules();

// The rules of DistributedDataParallel, and of checkpointing where no file of FSDP says it: the program
// decides both.
std::span<const SettingRule> replicated_program_rules();

}  // namespace shardlab
