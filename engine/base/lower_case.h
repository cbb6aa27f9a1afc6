// Names that people write in upper or lower case.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace shardlab {

// A to Z made small; every other byte as it is, whatever the locale.
inline std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

}  // namespace shardlab
