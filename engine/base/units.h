// Units of measure as types: a number of bytes cannot be added to a number of nanoseconds.
//
// All are plain values. Time is integer nanoseconds everywhere inside shardlab. Their arithmetic saturates
// (limits/saturated.h).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "engine/base/limits/saturated.h"

namespace shardlab {

template <typename Tag>
struct Quantity {
  std::int64_t value = 0;

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  constexpr Quantity& operator+=(Quantity other) {
    value = saturated_sum(value, other.value);
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value = saturated_difference(value, other.value);
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {saturated_sum(a.value, b.value)}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return {saturated_difference(a.value, b.value)};
  }
  friend constexpr Quantity operator-(Quantity a) { return {saturated_difference(0, a.value)}; }
  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return {saturated_product(a.value, n)}; }
  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return a * n; }
  friend constexpr Quantity operator/(Quantity a, std::int64_t n) { return {a.value / n}; }
};

using Bytes = Quantity<struct BytesTag>;
using Nanoseconds = Quantity<struct NanosecondsTag>;
using Flops = Quantity<struct FlopsTag>;  // floating-point operations, a multiply-add counts two

// Rates are doubles: they come from data sheets and fits.
struct BytesPerSecond {
  double value = 0;
  friend constexpr auto operator<=>(BytesPerSecond, BytesPerSecond) = default;
};
struct FlopsPerSecond {
  double value = 0;
  friend constexpr auto operator<=>(FlopsPerSecond, FlopsPerSecond) = default;
};

// Rounded to the nearest nanosecond; a rate must be positive.
inline Nanoseconds operator/(Bytes bytes, BytesPerSecond rate) {
  return {saturated_round(static_cast<double>(bytes.value) / rate.value * 1e9)};
}
inline Nanoseconds operator/(Flops flops, FlopsPerSecond rate) {
  return {saturated_round(static_cast<double>(flops.value) / rate.value * 1e9)};
}

constexpr Bytes kibibytes(std::int64_t n) {
  return {n << 10};
}
constexpr Bytes mebibytes(std::int64_t n) {
  return {n << 20};
}
constexpr Bytes gibibytes(std::int64_t n) {
  return {n << 30};
}
constexpr Nanoseconds microseconds(std::int64_t n) {
  return {n * 1000};
}
constexpr Nanoseconds milliseconds(std::int64_t n) {
  return {n * 1'000'000};
}

// Texts for people: "1.50 GiB", "17.4 KiB", "312 B"; "1.234 s", "12.3 ms", "4.5 us", "17 ns"; "1.23 TFLOP".
std::string to_string(Bytes bytes);
std::string to_string(Nanoseconds time);
std::string to_string(Flops flops);

}  // namespace shardlab
