// Probabilities as people read them.
#pragma once

#include <string>

namespace shardlab {

// "89 %", "over 99 %", "under 1 %": never certain.
std::string chance(double probability);

}  // namespace shardlab
