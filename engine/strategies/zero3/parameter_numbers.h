// Names of buffers that hold several parameters.
#pragma once

#include <string>
#include <vector>

#include "engine/base/ids.h"

namespace shardlab {

// "1_4.7" of parameters 1 to 4 and 7, which are ascending.
std::string parameter_numbers(const std::vector<ParameterId>& parameters);

}  // namespace shardlab
