// Why instructions stand in a plan of ZeRO-3 that quantises what it sends: rules that come before zero3's
// own.
#pragma once

#include <vector>

#include "engine/reasons/reason_rule.h"

namespace shardlab {

std::vector<ReasonRule> quantized_reasons();

}  // namespace shardlab
