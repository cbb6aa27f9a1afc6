#include "engine/formats/tools/module_patterns.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

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

std::optional<std::vector<std::string>> path_patterns(std::string_view rest) {
  static constexpr std::pair<std::string_view, std::string_view> k_known[] = {
      {"[^.]*", "*"}, {".*", "**"}, {"[^.]", "?"}};
  std::vector<std::string> patterns(1);
  while (!rest.empty()) {
    const auto known = std::find_if(std::begin(k_known), std::end(k_known),
                                    [&](const auto& row) { return rest.starts_with(row.first); });
    if (known != std::end(k_known)) {
      patterns.back() += known->second;
      rest.remove_prefix(known->first.size());
      continue;
    }
    const char c = rest.front();
    const bool escaped =
        c == '\\' && rest.size() > 1 && std::isalnum(static_cast<unsigned char>(rest[1])) == 0;
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    if (!escaped && !plain && c != '|') return std::nullopt;
    if (c == '|') {
      patterns.emplace_back();
    } else {
      patterns.back() += escaped ? rest[1] : c;
    }
    rest.remove_prefix(escaped ? 2 : 1);
  }
  return patterns;
}

std::string regular_expression(std::span<const std::string> patterns) {
  std::string all;
  for (const std::string& pattern : patterns) all += (all.empty() ? "" : "|") + expression_of(pattern);
  return all;
}

}  // namespace shardlab
