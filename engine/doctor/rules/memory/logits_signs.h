// Memory that ran out where logits are made or the loss is computed: signs of memory/batch-too-large.
#pragma once

#include <vector>

#include "engine/doctor/log/log_sign.h"

namespace shardlab {

std::vector<LogSign> logits_signs();

}  // namespace shardlab
