// Arithmetic of 64-bit integers that stops at the largest number there is instead of wrapping round to a
// negative one.
//
// Sizes of a model and a batch are multiplied in many places. What comes of it may be too large, and whoever
// checks sees that it is (engine/planner/check_sizes.h); it never looks like a small figure or a negative
// one.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace shardlab {

inline constexpr std::int64_t k_least_integer = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t k_largest_integer = std::numeric_limits<std::int64_t>::max();

constexpr std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? k_least_integer : k_largest_integer;
}

constexpr std::int64_t saturated_difference(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? k_least_integer : k_largest_integer;
}

constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? k_largest_integer : k_least_integer;
}

// Three factors and more are multiplied from left to right.
template <typename... Factors>
constexpr std::int64_t saturated_product(std::int64_t a, std::int64_t b, std::int64_t c, Factors... others) {
  return saturated_product(saturated_product(a, b), c, others...);
}

// Rounded to the nearest integer; what is no number counts as the largest.
inline std::int64_t saturated_round(double value) {
  if (!(value < 0x1p63)) return k_largest_integer;
  return value < -0x1p63 ? k_least_integer : std::llround(value);
}

}  // namespace shardlab
