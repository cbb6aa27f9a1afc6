#include "engine/lessons/lesson_value.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace shardlab::lessons {
namespace {

constexpr double k_kibi = 1024;

constexpr std::array<ValueUnit, 18> k_units = {{{"B", ValueKind::bytes, 1},
                                                {"KiB", ValueKind::bytes, k_kibi},
                                                {"MiB", ValueKind::bytes, k_kibi* k_kibi},
                                                {"GiB", ValueKind::bytes, k_kibi* k_kibi* k_kibi},
                                                {"TiB", ValueKind::bytes, k_kibi* k_kibi* k_kibi* k_kibi},
                                                {"KB", ValueKind::bytes, 1e3},
                                                {"MB", ValueKind::bytes, 1e6},
                                                {"GB", ValueKind::bytes, 1e9},
                                                {"ns", ValueKind::time, 1},
                                                {"us", ValueKind::time, 1e3},
                                                {"ms", ValueKind::time, 1e6},
                                                {"s", ValueKind::time, 1e9},
                                                {"min", ValueKind::time, 60e9},
                                                {"h", ValueKind::time, 3600e9},
                                                {"%", ValueKind::number, 0.01},
                                                {"million", ValueKind::number, 1e6},
                                                {"billion", ValueKind::number, 1e9},
                                                {"trillion", ValueKind::number, 1e12}}};

std::string grouped_digits(double whole) {
  std::string digits = fmt::format("{:.0f}", std::abs(whole));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return (whole < 0 ? "-" : "") + digits;
}

// Three digits that say something: "0.333", "12.3", "1,235".
std::string three_digits(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value)) return "not finite";
  if (size >= 99.95) return grouped_digits(std::round(value));
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995 || size == 0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3g}", value);
}

std::string plain_number(double value) {
  const bool whole = value == std::round(value) && std::abs(value) < 1e15;
  return whole ? grouped_digits(value) : three_digits(value);
}

Result<std::string> in_letters(double value) {
  constexpr std::array<std::string_view, 13> k_letters = {"no",   "one",    "two",   "three", "four",
                                                          "five", "six",    "seven", "eight", "nine",
                                                          "ten",  "eleven", "twelve"};
  const double whole = std::round(value);
  if (std::abs(value - whole) > 1e-9 || whole < 0 || whole >= static_cast<double>(k_letters.size()))
    return bad_input({},
                     fmt::format("{} is no small whole number to be said in letters", plain_number(value)));
  return std::string(k_letters[static_cast<std::size_t>(whole)]);
}

Result<std::string> shown_in_style(const Value& value, std::string_view style) {
  const bool sign = style.starts_with('+');
  if (sign) style.remove_prefix(1);
  const std::string plus = sign && value.number >= 0 ? "+" : "";
  if (style == "words" && value.kind == ValueKind::number) return in_letters(value.number);
  if (style == "0" && value.kind == ValueKind::number) return plus + grouped_digits(std::round(value.number));
  if (style.size() == 1 && style[0] >= '1' && style[0] <= '6' && value.kind == ValueKind::number)
    return plus + fmt::format("{:.{}f}", value.number, style[0] - '0');
  const ValueUnit* const unit = find_unit(style);
  if (unit == nullptr || unit->kind != value.kind)
    return bad_input({}, fmt::format("{} cannot be shown as '{}'", to_string(value.kind), style),
                     "a unit (GiB, ms, %, billion), a number of decimals (0 to 6), words");
  const std::string number = unit->name == "%" && std::abs(value.number) < 0.9995 && value.number != 0
                                 ? fmt::format("{:.2g}", value.number / unit->scale)
                                 : three_digits(value.number / unit->scale);
  return plus + number + " " + std::string(unit->name);
}

bool is_quantity(const Value& value) {
  return value.kind == ValueKind::number || value.kind == ValueKind::bytes || value.kind == ValueKind::time;
}

tl::unexpected<Error> does_not_fit(std::string_view operation, const Value& left, const Value& right) {
  return bad_input(
      {}, fmt::format("'{}' between {} and {}", operation, to_string(left.kind), to_string(right.kind)));
}

Result<Value> compared(std::string_view operation, const Value& left, const Value& right) {
  if (left.kind != right.kind) return does_not_fit(operation, left, right);
  if (operation == "==") return truth_value(left == right);
  if (operation == "!=") return truth_value(!(left == right));
  if (!is_quantity(left)) return does_not_fit(operation, left, right);
  if (operation == "<") return truth_value(left.number < right.number);
  if (operation == "<=") return truth_value(left.number <= right.number);
  if (operation == ">") return truth_value(left.number > right.number);
  return truth_value(left.number >= right.number);
}

Result<Value> added(std::string_view operation, const Value& left, const Value& right) {
  if (left.kind != right.kind || !is_quantity(left)) return does_not_fit(operation, left, right);
  return Value{left.kind, operation == "+" ? left.number + right.number : left.number - right.number, {}};
}

Result<Value> multiplied(const Value& left, const Value& right) {
  if (!is_quantity(left) || !is_quantity(right)) return does_not_fit("*", left, right);
  if (left.kind != ValueKind::number && right.kind != ValueKind::number)
    return does_not_fit("*", left, right);
  return Value{left.kind == ValueKind::number ? right.kind : left.kind, left.number * right.number, {}};
}

Result<Value> divided(const Value& left, const Value& right) {
  if (!is_quantity(left) || !is_quantity(right)) return does_not_fit("/", left, right);
  if (right.kind != ValueKind::number && left.kind != right.kind) return does_not_fit("/", left, right);
  if (right.number == 0) return bad_input({}, "a division by zero");
  return Value{left.kind == right.kind ? ValueKind::number : left.kind, left.number / right.number, {}};
}

}  // namespace

Value truth_value(bool value) {
  return {ValueKind::truth, value ? 1.0 : 0.0, {}};
}
Value number_value(double value) {
  return {ValueKind::number, value, {}};
}
Value bytes_value(Bytes value) {
  return {ValueKind::bytes, static_cast<double>(value.value), {}};
}
Value time_value(Nanoseconds value) {
  return {ValueKind::time, static_cast<double>(value.value), {}};
}
Value text_value(std::string value) {
  return {ValueKind::text, 0, std::move(value)};
}

const ValueUnit* find_unit(std::string_view name) {
  for (const ValueUnit& unit : k_units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Result<std::string> shown(const Value& value, std::string_view style) {
  if (!style.empty()) return shown_in_style(value, style);
  switch (value.kind) {
    case ValueKind::truth: return std::string(value.yes() ? "yes" : "no");
    case ValueKind::number: return plain_number(value.number);
    case ValueKind::bytes: return to_string(Bytes{std::llround(value.number)});
    case ValueKind::time: return to_string(Nanoseconds{std::llround(value.number)});
    case ValueKind::text: return value.text;
    case ValueKind::scenario:
    case ValueKind::run: break;
  }
  return bad_input({}, fmt::format("{} is nothing to show: ask a function of it", to_string(value.kind)),
                   fmt::format("for example peak_allocated({})", value.text));
}

Result<Value> combined(std::string_view operation, const Value& left, const Value& right) {
  if (operation == "+" || operation == "-") return added(operation, left, right);
  if (operation == "*") return multiplied(left, right);
  if (operation == "/") return divided(left, right);
  return compared(operation, left, right);
}

}  // namespace shardlab::lessons
