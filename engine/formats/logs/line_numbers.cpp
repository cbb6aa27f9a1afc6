#include "engine/formats/logs/line_numbers.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <string>

namespace shardlab {
namespace {

// Whole groups of three digits behind commas.
bool continues_with_group(std::string_view text) {
  return text.size() >= 4 && text[0] == ',' && std::all_of(text.begin() + 1, text.begin() + 4, is_digit) &&
         (text.size() == 4 || !is_digit(text[4]));
}

// The digits at the beginning of the text, `count` of them and no more; then it goes on behind them.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<Nanoseconds> clock_at(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, "-/")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, "-/")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || !take(text, " T")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || !take(text, ":")) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second) return std::nullopt;
  int milliseconds_of = 0;
  if (take(text, ",.")) milliseconds_of = take_digits(text, 3).value_or(0);
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return milliseconds(((days * 24 + *hour) * 60 + *minute) * 60'000 + *second * 1000 + milliseconds_of);
}

}  // namespace

std::optional<double> leading_number(std::string_view text) {
  std::string joined;  // without the commas of thousands
  const std::size_t digits =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  if (digits > 0 && digits <= 3 && continues_with_group(text.substr(digits))) {
    joined = text.substr(0, digits);
    text.remove_prefix(digits);
    for (; continues_with_group(text); text.remove_prefix(4)) joined += text.substr(1, 3);
    joined += text.substr(0, std::min(text.find_first_not_of(".0123456789"), text.size()));
    text = joined;
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::optional<double> number_after(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    std::string_view rest = text.substr(at + key.size());
    const std::size_t first = rest.find_first_not_of(" \t:='\"");
    if (first == std::string_view::npos) return std::nullopt;
    if (const auto number = leading_number(rest.substr(first))) return number;
  }
  return std::nullopt;
}

std::optional<std::int64_t> count_after(std::string_view text, std::string_view key) {
  const auto number = number_after(text, key);
  if (!number || !(*number >= 0) || *number > 0x1p53 || std::floor(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<Nanoseconds> seconds(std::optional<double> value) {
  constexpr double k_most = 1e9;
  if (!value || !(*value >= 0) || *value > k_most) return std::nullopt;
  return Nanoseconds{std::llround(*value * 1e9)};
}

std::optional<Nanoseconds> clock_in(std::string_view line) {
  constexpr std::size_t k_searched = 200;
  const std::string_view head = line.substr(0, k_searched);
  for (std::size_t at = head.find_first_of("-/"); at != std::string_view::npos;
       at = head.find_first_of("-/", at + 1)) {
    if (at < 4) continue;
    if (const auto clock = clock_at(line.substr(at - 4))) return clock;
  }
  return std::nullopt;
}

}  // namespace shardlab
