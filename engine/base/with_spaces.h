// Names of figures and phases as words for people.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace shardlab {

// "peak_allocated" and "peak.allocated" as "peak allocated".
inline std::string with_spaces(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char each) { return each == '_' || each == '.'; }, ' ');
  return text;
}

}  // namespace shardlab
