// How names of words are compared.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/lower_case.h"

namespace shardlab::lessons {

// "all-gather" is "AllGather", "zero-3" is "ZeRO3".
inline std::string plain_name(std::string_view name) {
  std::string text = in_lower_case(name);
  std::erase_if(text, [](char c) { return c == '-' || c == '_' || c == ' ' || c == '\n'; });
  return text;
}

}  // namespace shardlab::lessons
