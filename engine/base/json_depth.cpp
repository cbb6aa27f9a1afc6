#include "engine/base/json_depth.h"

#include <vector>

namespace shardlab {
namespace {

// Hands on what is no part of a quoted text, until `take` says that it has enough: whether it did.
template <typename Take>
bool any_outside_quotes(std::string_view text, Take&& take) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"')
      quoted = !quoted;
    else if (quoted)
      at += text[at] == '\\' ? 1 : 0;
    else if (take(text[at]))
      return true;
  }
  return false;
}

}  // namespace

bool is_json_too_deep(std::string_view text) {
  int depth = 0;
  return any_outside_quotes(text, [&](char c) {
    if (c == ']' || c == '}') --depth;
    return (c == '[' || c == '{') && ++depth > k_deepest_json;
  });
}

bool is_json_too_large(std::string_view text, std::size_t most) {
  if (text.size() <= most) return false;  // every value has a byte at least
  std::size_t values = 1;
  return any_outside_quotes(text,
                            [&](char c) { return (c == ',' || c == '[' || c == '{') && ++values > most; });
}

bool has_too_many_members(std::string_view text) {
  std::vector<std::size_t> members;  // of the lists and objects around
  return any_outside_quotes(text, [&](char c) {
    if (c == '[' || c == '{') members.push_back(0);
    if ((c == ']' || c == '}') && !members.empty()) members.pop_back();
    return c == ':' && !members.empty() && ++members.back() > k_most_ordered_members;
  });
}

}  // namespace shardlab
