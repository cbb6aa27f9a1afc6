#include "tests/nccl_stand_in/arithmetic.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace stand_in {
namespace {

enum {
  k_int8 = 0,
  k_uint8 = 1,
  k_int32 = 2,
  k_int64 = 4,
  k_half = 6,
  k_float = 7,
  k_double = 8,
  k_bfloat16 = 9
};
enum { k_sum = 0, k_product = 1, k_maximum = 2, k_minimum = 3, k_average = 4 };

float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

template <typename T>
T combine(T a, T b, int reduction) {
  switch (reduction) {
    case k_product: return static_cast<T>(a * b);
    case k_maximum: return std::max(a, b);
    case k_minimum: return std::min(a, b);
    default: return static_cast<T>(a + b);
  }
}

template <typename Stored, typename T, typename Load, typename Store>
void reduce_as(void* to, const std::vector<const std::byte*>& parts, std::size_t count, int reduction,
               Load load, Store store) {
  const auto at = [&](std::size_t part, std::size_t i) {
    Stored stored;
    std::memcpy(&stored, parts[part] + i * sizeof(Stored), sizeof(Stored));
    return load(stored);
  };
  for (std::size_t i = 0; i < count; ++i) {
    T value = at(0, i);
    for (std::size_t part = 1; part < parts.size(); ++part) value = combine<T>(value, at(part, i), reduction);
    if (reduction == k_average) value = static_cast<T>(value / static_cast<T>(parts.size()));
    const Stored stored = store(value);
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof(Stored), &stored, sizeof(Stored));
  }
}

template <typename T>
void reduce_plain(void* to, const std::vector<const std::byte*>& parts, std::size_t count, int reduction) {
  const auto same = [](T value) { return value; };
  reduce_as<T, T>(to, parts, count, reduction, same, same);
}

}  // namespace

std::size_t element_bytes(int element) {
  switch (element) {
    case k_int8:
    case k_uint8: return 1;
    case k_half:
    case k_bfloat16: return 2;
    case k_int32:
    case k_float: return 4;
    case k_int64:
    case k_double: return 8;
    default: return 0;
  }
}

void reduce(void* to, const std::vector<const std::byte*>& parts, std::size_t count, int element,
            int reduction) {
  switch (element) {
    case k_int8: return reduce_plain<std::int8_t>(to, parts, count, reduction);
    case k_uint8: return reduce_plain<std::uint8_t>(to, parts, count, reduction);
    case k_int32: return reduce_plain<std::int32_t>(to, parts, count, reduction);
    case k_int64: return reduce_plain<std::int64_t>(to, parts, count, reduction);
    case k_float: return reduce_plain<float>(to, parts, count, reduction);
    case k_double: return reduce_plain<double>(to, parts, count, reduction);
    case k_half:
      return reduce_as<_Float16, float>(
          to, parts, count, reduction, [](_Float16 value) { return static_cast<float>(value); },
          [](float value) { return static_cast<_Float16>(value); });
    default: return reduce_as<std::uint16_t, float>(to, parts, count, reduction, from_bfloat16, to_bfloat16);
  }
}

}  // namespace stand_in
