// The version of the program.
#pragma once

#include <string_view>

namespace shardlab {

// As in the root CMakeLists.txt: "0.1.0".
std::string_view program_version();

}  // namespace shardlab
