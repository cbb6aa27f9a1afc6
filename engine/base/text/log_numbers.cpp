#include "engine/base/text/log_numbers.h"

#include <charconv>
#include <cmath>

#include "engine/base/lower_case.h"

namespace shardlab {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::optional<double> unit_of(std::string_view word) {
  const std::string lower = in_lower_case(word.substr(0, 3));
  if (lower.starts_with("byt") || lower == "b") return 1;
  double unit = 0;
  switch (lower.empty() ? ' ' : lower[0]) {
    case 'k': unit = 0x1p10; break;
    case 'm': unit = 0x1p20; break;
    case 'g': unit = 0x1p30; break;
    case 't': unit = 0x1p40; break;
    default: return std::nullopt;
  }
  if (lower.size() > 1 && lower[1] != 'i' && lower[1] != 'b') return std::nullopt;
  return unit;
}

// A size that begins the text.
std::optional<Bytes> leading_size(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || number < 0 || number > 1e18) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  const auto unit = unit_of(text.substr(0, text.find_first_of(" .,;)\t")));
  if (!unit || number * *unit > 0x1p60) return std::nullopt;
  return Bytes{std::llround(number * *unit)};
}

}  // namespace

std::optional<std::int64_t> integer_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  while (!text.empty() && (is_space(text.front()) || text.front() == '=' || text.front() == ':'))
    text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<Bytes> size_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  return leading_size(text.substr(at + key.size()));
}

std::optional<Bytes> size_before(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  // The number and its unit are the last two words before.
  std::string_view head = text.substr(0, at);
  while (!head.empty() && is_space(head.back())) head.remove_suffix(1);
  const std::size_t unit = head.find_last_of(" \t");
  if (unit == std::string_view::npos || unit == 0) return std::nullopt;
  const std::size_t number = head.substr(0, unit).find_last_of(" \t;(");
  return leading_size(head.substr(number == std::string_view::npos ? 0 : number + 1));
}

}  // namespace shardlab
