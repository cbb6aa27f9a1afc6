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

// Two that lie side by side, `first` at the lower address. Devices since Ampere round both in one
// instruction, where the bits by hand take a dozen: kernels that write bfloat16 would wait for them and not
// for memory.
SHARDLAB_HD std::uint32_t bfloat16_pair(float first, float second) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return from_float<BFloat16>(first).bits | static_cast<std::uint32_t>(from_float<BFloat16>(second).bits)
                                                << 16;
#endif
}

SHARDLAB_HD float first_of_pair(std::uint32_t pair) {
  const std::uint32_t bits = pair << 16;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}
SHARDLAB_HD float second_of_pair(std::uint32_t pair) {
  const std::uint32_t bits = pair & 0xffff0000U;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

}  // namespace shardlab::kernels
