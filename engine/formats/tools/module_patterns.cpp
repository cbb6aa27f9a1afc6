#include "engine/formats/tools/module_patterns.h"

#include <string_view>

namespace shardlab {
namespace {

std::string expression_of(std::string_view pattern) {
  std::string expression;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*' && pattern.substr(i, 2) == "**") {
      expression += ".*";
      ++i;
    } else if (c == '*') {
      expression += "[^.]*";
    } else if (c == '?') {
      expression += "[^.]";
    } else {
      if (std::string_view("\\.^$+{}[]()|").find(c) != std::string_view::npos) expression += '\\';
      expression += c;
    }
  }
  return expression;
}

}  // namespace

std::string regular_expression(std::span<const std::string> patterns) {
  std::string all;
  for (const std::string& pattern : patterns) all += (all.empty() ? "" : "|") + expression_of(pattern);
  return all;
}

}  // namespace shardlab
