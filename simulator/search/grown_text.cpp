#include "simulator/search/grown_text.h"

#include <charconv>

namespace shardlab {
namespace {

constexpr std::string_view k_digits = "0123456789";

// Cuts off what a text begins with: a number, or all before the next one.
std::string_view take_part(std::string_view& text) {
  const bool number = k_digits.find(text.front()) != std::string_view::npos;
  const std::size_t end = number ? text.find_first_not_of(k_digits) : text.find_first_of(k_digits);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(part.size());
  return part;
}

// None: it is no number, or too long for one.
std::optional<std::int64_t> number_in(std::string_view part) {
  std::int64_t number = 0;
  const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
  if (read.ec != std::errc() || read.ptr != part.data() + part.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string> grown_text(std::string_view before, std::string_view after, std::int64_t steps) {
  std::string grown;
  while (!before.empty() && !after.empty()) {
    const std::string_view old_part = take_part(before), new_part = take_part(after);
    if (old_part == new_part) {
      grown += new_part;
      continue;
    }
    const auto old_number = number_in(old_part), new_number = number_in(new_part);
    if (!old_number || !new_number) return std::nullopt;
    const std::int64_t number = *new_number + steps * (*new_number - *old_number);
    if (number < 0) return std::nullopt;
    grown += std::to_string(number);
  }
  if (!before.empty() || !after.empty()) return std::nullopt;
  return grown;
}

}  // namespace shardlab
