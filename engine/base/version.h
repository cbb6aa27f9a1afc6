// The version of the program.
#pragma once

#include <string_view>

namespace shardlab {

// The version that the root CMakeLists.txt states: "0.1.0".
std::string_view program_version();

}  // namespace shardlab
