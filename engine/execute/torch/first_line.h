// Messages of libtorch's exceptions, without the call stack that follows the first line.
#pragma once

#include <string>
#include <string_view>

namespace shardlab {

inline std::string first_line(std::string_view message) {
  return std::string(message.substr(0, message.find('\n')));
}

}  // namespace shardlab
