// What an expression of a lesson gives: a quantity with its unit, a text, yes or no, or something to ask.
//
// Plain values and pure functions. Numbers are double: bytes and nanoseconds are exact up to 2^53.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/base/words.h"

namespace shardlab::lessons {

enum class ValueKind : std::uint8_t {
  truth,
  number,
  bytes,
  time,  // nanoseconds
  text,
  scenario,  // the name of one, whose prediction a function is asked of
  run,       // the name of a scenario that was run for real
};

struct Value {
  ValueKind kind = ValueKind::number;
  double number = 0;  // truth: 0 or 1
  std::string text;   // of text, scenario and run

  bool yes() const { return kind == ValueKind::truth && number != 0; }
  friend bool operator==(const Value&, const Value&) = default;
};

Value truth_value(bool value);
Value number_value(double value);
Value bytes_value(Bytes value);
Value time_value(Nanoseconds value);
Value text_value(std::string value);

}  // namespace shardlab::lessons

namespace shardlab {
template <>
inline constexpr auto k_words<lessons::ValueKind> =
    std::to_array<Word<lessons::ValueKind>>({{lessons::ValueKind::truth, "yes or no"},
                                             {lessons::ValueKind::number, "a number"},
                                             {lessons::ValueKind::bytes, "bytes"},
                                             {lessons::ValueKind::time, "a time"},
                                             {lessons::ValueKind::text, "a text"},
                                             {lessons::ValueKind::scenario, "a scenario"},
                                             {lessons::ValueKind::run, "a run"}});
}  // namespace shardlab

namespace shardlab::lessons {

// A unit in which a quantity may be written: "MiB", "ms", "%", "billion".
struct ValueUnit {
  std::string_view name;
  ValueKind kind;
  double scale;  // of one such unit
};
// Null for an unknown one.
const ValueUnit* find_unit(std::string_view name);

// For people: "81.1 MiB", "12.3 ms", "1,234", "0.333", "yes". With a style the same in a unit of find_unit()
// ("GiB", "%"), with a number of decimals ("2"), with its sign ("+%"), or a small whole number in letters
// ("words"). bad_input without a place for a style that does not fit the value.
Result<std::string> shown(const Value& value, std::string_view style = {});

// Operators: + - * / == != < <= > >=. bad_input without a place where the kinds do not fit, and for a
// division by zero.
Result<Value> combined(std::string_view operation, const Value& left, const Value& right);

}  // namespace shardlab::lessons
