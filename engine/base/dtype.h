// Element types of tensors, with the names used in scenarios and plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/base/units.h"

namespace shardlab {

enum class DType : std::uint8_t { float32, bfloat16, float16, float64, int64, int32, uint16, uint8 };

constexpr std::int64_t element_size(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::int64: return 8;
    case DType::float32:
    case DType::int32: return 4;
    case DType::bfloat16:
    case DType::float16:
    case DType::uint16: return 2;
    case DType::uint8: return 1;
  }
  return 0;
}

constexpr Bytes bytes_of(std::int64_t elements, DType dtype) {
  return {saturated_product(elements, element_size(dtype))};
}

constexpr bool is_floating_point(DType dtype) {
  return dtype == DType::float32 || dtype == DType::bfloat16 || dtype == DType::float16 ||
         dtype == DType::float64;
}

std::string_view to_string(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);

}  // namespace shardlab
