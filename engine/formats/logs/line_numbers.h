// Numbers and times of day in lines of logs. Private to this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/units.h"

namespace shardlab {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number that follows the first `key` that has one; spaces, quotes, `:` and `=` between are skipped.
// `1,234.5` is one number, nan and inf are numbers.
std::optional<double> number_after(std::string_view text, std::string_view key);

// The same where it is whole, not negative and below 2^53.
std::optional<std::int64_t> count_after(std::string_view text, std::string_view key);

// The number that begins the text.
std::optional<double> leading_number(std::string_view text);

// Nothing for what is no time that a training takes: negative, no number, 30 years.
std::optional<Nanoseconds> seconds(std::optional<double> value);

// The first date with a time of day, as Python's logging writes it: `2025-06-16 22:30:50,322`. Since
// 1970-01-01 on the clock of the log, whichever zone that is.
std::optional<Nanoseconds> clock_in(std::string_view line);

}  // namespace shardlab
