// What frameworks print when they refuse settings, by framework: signs of configuration/refused.
#pragma once

#include <vector>

#include "engine/doctor/log/log_sign.h"

namespace shardlab {

std::vector<LogSign> refusals_of_fsdp();
std::vector<LogSign> refusals_of_accelerate();
std::vector<LogSign> refusals_of_trainer();
std::vector<LogSign> refusals_of_deepspeed();
std::vector<LogSign> refusals_of_megatron();

}  // namespace shardlab
