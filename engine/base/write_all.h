// Writing to an open file, however many calls that takes.
#pragma once

#include <string_view>

namespace shardlab {

// All bytes, through interruptions and writes of a part. Returns 0, or the errno of the call that failed;
// then some of the bytes may have been written.
int write_all(int descriptor, std::string_view bytes) noexcept;

}  // namespace shardlab
