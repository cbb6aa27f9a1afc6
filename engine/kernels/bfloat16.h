// bfloat16 as it lies in memory, with the conversions of IEEE rounding (to nearest, ties to even).
#pragma once

#include <cstring>

#include "engine/kernels/host_device.h"

namespace shardlab::kernels {

struct BFloat16 {
  std::uint16_t bits;
};

SHARDLAB_HD float to_float(float value) {
  return value;
}

SHARDLAB_HD float to_float(BFloat16 value) {
  const std::uint32_t bits = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

template <typename T>
SHARDLAB_HD T from_float(float value);

template <>
SHARDLAB_HD float from_float<float>(float value) {
  return value;
}

template <>
SHARDLAB_HD BFloat16 from_float<BFloat16>(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7fffffffU) > 0x7f800000U)
    return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};  // stays a NaN
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

}  // namespace shardlab::kernels
