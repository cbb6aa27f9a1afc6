#include "engine/formats/foreign/python_yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "engine/base/lower_case.h"
#include "engine/base/yaml.h"

namespace shardlab {
namespace {

using Kind = ForeignValue::Kind;

// Lower, upper or title case, as the resolver lists them.
bool is_one_of_cases(std::string_view text, std::string_view word) {
  const std::string lower = in_lower_case(std::string(text));
  if (lower != word) return false;
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto capitals = std::count_if(text.begin(), text.end(), is_upper);
  return capitals == 0 || capitals == static_cast<std::ptrdiff_t>(text.size()) ||
         (capitals == 1 && is_upper(text.front()));
}

std::optional<bool> boolean_of(std::string_view text) {
  static constexpr std::pair<std::string_view, bool> k_words[] = {
      {"yes", true}, {"no", false}, {"true", true}, {"false", false}, {"on", true}, {"off", false}};
  for (const auto& [word, value] : k_words) {
    if (is_one_of_cases(text, word)) return value;
  }
  return std::nullopt;
}

bool is_nothing(std::string_view text) {
  return text.empty() || text == "~" || is_one_of_cases(text, "null");
}

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  return digits;
}

// Decimal, binary, octal with a leading zero, hexadecimal; numbers to base 60 stay text, nothing here is one.
std::optional<std::int64_t> integer_of(std::string_view text) {
  static const std::regex pattern("[-+]?(0|0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|[1-9][0-9_]*)");
  if (text.size() > 40 || !std::regex_match(text.begin(), text.end(), pattern)) return std::nullopt;
  std::string digits = without_underscores(text);
  const bool negative = digits.front() == '-';
  if (negative || digits.front() == '+') digits.erase(0, 1);
  int base = 10;
  if (digits.starts_with("0b") || digits.starts_with("0x")) {
    base = digits[1] == 'b' ? 2 : 16;
    digits.erase(0, 2);
  } else if (digits.size() > 1 && digits.front() == '0') {
    base = 8;
  }
  std::int64_t value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return negative ? -value : value;
}

// A point is required, and a sign in the exponent.
std::optional<double> number_of(std::string_view text) {
  static const std::regex pattern(
      R"([-+]?([0-9][0-9_]*)\.[0-9_]*([eE][-+][0-9]+)?|\.[0-9][0-9_]*([eE][-+][0-9]+)?)");
  if (text.size() > 60 || !std::regex_match(text.begin(), text.end(), pattern)) return std::nullopt;
  std::string digits = without_underscores(text);
  if (digits.front() == '+') digits.erase(0, 1);
  double value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

ForeignValue typed(const YamlNode& node) {
  ForeignValue value;
  if (node.is_scalar()) {
    value = node.quoted ? foreign_text(node.text, {}) : python_scalar(node.text);
  } else if (node.is_sequence()) {
    value.kind = Kind::list;
    for (const YamlNode& item : node.items) value.items.push_back(typed(item));
  } else if (node.is_map()) {
    value.kind = Kind::map;
    for (const YamlEntry& entry : node.entries)
      value.entries.push_back({entry.key, entry.place, typed(entry.value)});
  }
  value.place = node.place;
  return value;
}

}  // namespace

ForeignValue python_scalar(std::string_view text) {
  if (is_nothing(text)) return {};
  ForeignValue value = foreign_text(std::string(text), {});
  if (const auto flag = boolean_of(text)) {
    value.kind = Kind::boolean;
    value.flag = *flag;
  } else if (const auto whole = integer_of(text)) {
    value.kind = Kind::integer;
    value.integer = *whole;
    value.number = static_cast<double>(*whole);
  } else if (const auto number = number_of(text)) {
    value.kind = Kind::number;
    value.number = *number;
    value.is_whole = std::abs(*number) < 9e15 && std::floor(*number) == *number;
    value.integer = value.is_whole ? static_cast<std::int64_t>(*number) : 0;
  }
  return value;
}

Result<ForeignValue> parse_python_yaml(std::string_view text, std::string_view name) {
  SHARDLAB_TRY(const YamlNode root, parse_yaml(text, name));
  if (!root.is_map())
    return bad_input(in_file(std::string(name)), fmt::format("holds {}, not a map", describe(root.kind)));
  return typed(root);
}

}  // namespace shardlab
