#include "engine/base/parse.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include <fmt/core.h>

#include "engine/base/text/utf8.h"
#include "engine/base/unit_names.h"

namespace shardlab {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The digits of a number without its separators; nothing when it is not one. `rest` is what follows it.
std::optional<std::string> number_part(std::string_view text, std::string_view& rest) {
  std::string digits;
  std::size_t i = 0;
  bool seen_digit = false, seen_point = false, seen_exponent = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    const bool next_is_digit = i + 1 < text.size() && is_digit(text[i + 1]);
    const bool after_digit = i > 0 && is_digit(text[i - 1]);
    if (is_digit(c)) {
      seen_digit = true;
    } else if (c == '_' && after_digit && next_is_digit) {
      continue;
    } else if (c == '.' && !seen_point && !seen_exponent) {
      seen_point = true;
    } else if ((c == '+' || c == '-') && i == 0) {
      if (c == '+') continue;
    } else if ((c == 'e' || c == 'E') && seen_digit && !seen_exponent &&
               (next_is_digit || (i + 2 < text.size() && (text[i + 1] == '+' || text[i + 1] == '-') &&
                                  is_digit(text[i + 2])))) {
      seen_exponent = true;
      digits += c;
      if (!next_is_digit) digits += text[++i];
      continue;
    } else {
      break;
    }
    digits += c;
  }
  if (!seen_digit) return std::nullopt;
  rest = text.substr(i);
  return digits;
}

std::optional<double> to_double(const std::string& digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

// digits x size when that is a whole number that fits.
std::optional<std::int64_t> scaled_integer(const std::string& digits, std::int64_t size, bool round) {
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
  if (error == std::errc() && end == digits.data() + digits.size()) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(whole, size, &product)) return std::nullopt;
    return product;
  }
  const auto value = to_double(digits);
  if (!value) return std::nullopt;
  const double product = *value * static_cast<double>(size);
  if (!(std::abs(product) < 0x1p62)) return std::nullopt;
  const double rounded = std::nearbyint(product);
  if (!round && rounded != product) return std::nullopt;
  return static_cast<std::int64_t>(rounded);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t k_shown = 60;
  return text.size() <= k_shown ? fmt::format("'{}'", text)
                                : fmt::format("'{}...'", whole_characters(text, k_shown));
}

Result<std::int64_t> quantity(std::string_view text, std::span<const UnitName> units, bool unit_optional,
                              bool round, std::string_view expected) {
  std::string_view rest;
  const auto digits = number_part(text, rest);
  if (!digits) return bad_input({}, fmt::format("{} is not {}", quoted(text), expected));
  const std::string_view name = trimmed(rest);
  if (name.empty() && unit_optional) {
    if (const auto value = scaled_integer(*digits, 1, false)) return *value;
    return bad_input({}, fmt::format("{} is not a whole number that fits 64 bits", quoted(text)));
  }
  for (const UnitName& unit : units) {
    if (unit.name != name || name.empty()) continue;
    if (const auto value = scaled_integer(*digits, unit.size, round)) return *value;
    return bad_input({}, fmt::format("{} is not a whole number that fits 64 bits", quoted(text)));
  }
  return bad_input({}, fmt::format("{} is not {}", quoted(text), expected));
}

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text) {
  return quantity(text, k_counts, true, false, "an integer");
}

Result<double> parse_number(std::string_view text) {
  std::string_view rest;
  const auto digits = number_part(text, rest);
  const auto value = digits && rest.empty() ? to_double(*digits) : std::nullopt;
  if (!value) return bad_input({}, quoted(text) + " is not a number");
  return *value;
}

Result<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return bad_input({}, quoted(text) + " is not true or false");
}

Result<Bytes> parse_bytes(std::string_view text) {
  SHARDLAB_TRY(const std::int64_t value, quantity(text, k_sizes, true, true, "a size such as 25MiB or 80GB"));
  return Bytes{value};
}

Result<BytesPerSecond> parse_bytes_per_second(std::string_view text) {
  std::string_view size = text;
  if (size.ends_with("/s")) size.remove_suffix(2);
  const auto value = quantity(size, k_sizes, true, true, "a rate");
  if (!value) return bad_input({}, quoted(text) + " is not a rate such as 3.5GB/s");
  return BytesPerSecond{static_cast<double>(*value)};
}

Result<Nanoseconds> parse_duration(std::string_view text) {
  SHARDLAB_TRY(const std::int64_t value,
               quantity(text, k_times, false, true, "a time with its unit, such as 30s or 5ms"));
  return Nanoseconds{value};
}

Result<double> parse_fraction(std::string_view text) {
  std::string_view rest;
  const auto digits = number_part(text, rest);
  const auto value = digits ? to_double(*digits) : std::nullopt;
  if (value && rest.empty()) return *value;
  // 2% becomes the double nearest to 0.02, not 2 * 0.01.
  if (value && trimmed(rest) == "%") return *value / 100;
  return bad_input({}, quoted(text) + " is not a fraction such as 2% or 0.02");
}

std::string format_number(double value) {
  return fmt::format("{}", value);
}

std::string format_bytes(Bytes bytes) {
  for (const UnitName& unit : k_sizes) {
    if (bytes.value != 0 && bytes.value % unit.size == 0 && unit.name != "B")
      return fmt::format("{}{}", bytes.value / unit.size, unit.name);
  }
  return fmt::format("{}", bytes.value);
}

std::string format_duration(Nanoseconds time) {
  for (const UnitName& unit : k_times) {
    if (time.value != 0 && time.value % unit.size == 0)
      return fmt::format("{}{}", time.value / unit.size, unit.name);
  }
  return "0s";
}

std::string format_fraction(double fraction) {
  const std::string percent = fmt::format("{}%", fraction * 100);
  const auto back = parse_fraction(percent);
  return back && *back == fraction ? percent : format_number(fraction);
}

}  // namespace shardlab
