// Vectors of float32 as wide as the instruction set has them, and loads and stores of elements. Private to
// isa_*.cpp.
//
// Written with the compiler's own vector types, so the same text serves every instruction set. The includer
// has defined SHARDLAB_ISA, the namespace that keeps the versions apart, and SHARDLAB_LANES, the floats in a
// register; nothing here may use the standard library, whose inline functions would be merged across
// versions.
#pragma once

#include <cstdint>
#if SHARDLAB_LANES == 16
#include <immintrin.h>
#endif

#include "engine/execute/torch/kernels/row_kernels.h"

#define SHARDLAB_INLINE inline __attribute__((always_inline))

namespace shardlab::SHARDLAB_ISA {

constexpr std::int64_t k_lanes = SHARDLAB_LANES;

typedef float Floats __attribute__((vector_size(SHARDLAB_LANES * 4)));
typedef std::int32_t Ints __attribute__((vector_size(SHARDLAB_LANES * 4)));
typedef std::uint32_t Words __attribute__((vector_size(SHARDLAB_LANES * 4)));
typedef std::uint8_t Bytes __attribute__((vector_size(SHARDLAB_LANES)));
typedef std::uint16_t Halves __attribute__((vector_size(SHARDLAB_LANES * 2)));

SHARDLAB_INLINE Floats broadcast(float value) {
  return Floats{} + value;
}

SHARDLAB_INLINE Floats load(const float* from) {
  Floats value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}
SHARDLAB_INLINE void store(float* to, Floats value) {
  __builtin_memcpy(to, &value, sizeof value);
}

SHARDLAB_INLINE Floats widen(Halves halves, const BFloat16*) {
  return (Floats)(__builtin_convertvector(halves, Words) << 16);
}
// A float16 is a float32 with 3 exponent bits and 13 fraction bits less: moved to its place it is 2^112 too
// small, subnormal numbers included; infinities and NaNs keep the highest exponent.
SHARDLAB_INLINE Floats widen(Halves halves, const Float16*) {
  const Words bits = __builtin_convertvector(halves, Words);
  const Words magnitude = (bits & 0x7fffU) << 13;
  const Words finite = (Words)((Floats)magnitude * 0x1p112f);
  const Words value = magnitude >= 0x0f800000U ? magnitude | 0x7f800000U : finite;
  return (Floats)(value | (bits & 0x8000U) << 16);
}

// To nearest, ties to even; a NaN stays one.
SHARDLAB_INLINE Halves narrow(Floats value, const BFloat16*) {
  const Words bits = (Words)value;
  const Words rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return __builtin_convertvector(value != value ? Words{} + 0x7fc0U : rounded, Halves);
}
// Likewise. Below 2^-14 adding 0.5 rounds to float16's subnormal numbers; from 65520 on it is infinity.
SHARDLAB_INLINE Halves narrow(Floats value, const Float16*) {
  const Words bits = (Words)value;
  const Words magnitude = bits & 0x7fffffffU;
  const Words small = (Words)((Floats)magnitude + 0.5f) - 0x3f000000U;
  const Words normal = (magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U)) >> 13;
  Words rounded = magnitude < 0x38800000U ? small : normal;
  rounded = magnitude >= 0x477ff000U ? Words{} + 0x7c00U : rounded;
  rounded = magnitude > 0x7f800000U ? Words{} + 0x7e00U : rounded;
  return __builtin_convertvector(rounded | (bits >> 16 & 0x8000U), Halves);
}

template <typename T>
SHARDLAB_INLINE Floats load(const T* from) {
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof halves);
  return widen(halves, from);
}
template <typename T>
SHARDLAB_INLINE void store(T* to, Floats value) {
  const Halves halves = narrow(value, to);
  __builtin_memcpy(to, &halves, sizeof halves);
}

#if SHARDLAB_LANES == 16
// AVX-512 has masks for the rest of a row.
SHARDLAB_INLINE __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << count) - 1);
}
SHARDLAB_INLINE Floats load_part(const float* from, std::int64_t count, float fill) {
  return (Floats)_mm512_mask_loadu_ps((__m512)broadcast(fill), first_lanes(count), from);
}
SHARDLAB_INLINE void store_part(float* to, Floats value, std::int64_t count) {
  _mm512_mask_storeu_ps(to, first_lanes(count), (__m512)value);
}
template <typename T>
SHARDLAB_INLINE Floats load_part(const T* from, std::int64_t count, float fill) {
  const auto halves =
      (Halves)_mm256_mask_loadu_epi16((__m256i)narrow(broadcast(fill), from), first_lanes(count), from);
  return widen(halves, from);
}
template <typename T>
SHARDLAB_INLINE void store_part(T* to, Floats value, std::int64_t count) {
  _mm256_mask_storeu_epi16(to, first_lanes(count), (__m256i)narrow(value, to));
}
#else
template <typename T>
SHARDLAB_INLINE T element_of(float value, const T* of) {
  return {narrow(broadcast(value), of)[0]};
}
SHARDLAB_INLINE float element_of(float value, const float*) {
  return value;
}

template <typename T>
SHARDLAB_INLINE Floats load_part(const T* from, std::int64_t count, float fill) {
  T part[k_lanes];
  for (std::int64_t i = 0; i < k_lanes; ++i) part[i] = i < count ? from[i] : element_of(fill, from);
  return load(part);
}
template <typename T>
SHARDLAB_INLINE void store_part(T* to, Floats value, std::int64_t count) {
  T part[k_lanes];
  store(part, value);
  for (std::int64_t i = 0; i < count; ++i) to[i] = part[i];
}
#endif

// The first `count` elements (at least one), `fill` behind them.
template <typename T>
SHARDLAB_INLINE Floats load_or(const T* from, std::int64_t count, float fill) {
  if (count >= k_lanes) return load(from);
  return load_part(from, count, fill);
}
template <typename T>
SHARDLAB_INLINE Floats load(const T* from, std::int64_t count) {
  return load_or(from, count, 0);
}
// The first `count` lanes; nothing behind them is touched.
template <typename T>
SHARDLAB_INLINE void store(T* to, Floats value, std::int64_t count) {
  if (count >= k_lanes) return store(to, value);
  store_part(to, value, count);
}

template <typename T>
SHARDLAB_INLINE float load_one(const T* from) {
  return load(from, 1)[0];
}
template <typename T>
SHARDLAB_INLINE void store_one(T* to, float value) {
  store(to, broadcast(value), 1);
}

SHARDLAB_INLINE Floats larger(Floats a, Floats b) {
  return a > b ? a : b;
}

// Sum and maximum over the lanes, four at a time.
typedef float Quad __attribute__((vector_size(16)));
SHARDLAB_INLINE Quad quad_of(Floats values, std::int64_t index) {
  Quad quad;
  __builtin_memcpy(&quad, reinterpret_cast<const char*>(&values) + index * 16, sizeof quad);
  return quad;
}
SHARDLAB_INLINE float sum_of(Floats values) {
  Quad sums = quad_of(values, 0);
  for (std::int64_t i = 1; i < k_lanes / 4; ++i) sums += quad_of(values, i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
SHARDLAB_INLINE float largest_of(Floats values) {
  Quad best = quad_of(values, 0);
  for (std::int64_t i = 1; i < k_lanes / 4; ++i) best = best > quad_of(values, i) ? best : quad_of(values, i);
  const float left = best[0] > best[1] ? best[0] : best[1];
  const float right = best[2] > best[3] ? best[2] : best[3];
  return left > right ? left : right;
}

// exp as 2^n e^r with |r| <= ln(2) / 2 and a polynomial for e^r (coefficients of Cephes' expf). Results stay
// normal numbers: below -87.3 it is 1.2e-38, above 88.3 it is 2.3e38.
SHARDLAB_INLINE Floats exponential(Floats x) {
  x = x < -87.33654f ? broadcast(-87.33654f) : x;  // comparisons that a NaN passes unchanged
  x = x > 88.37626f ? broadcast(88.37626f) : x;
  const Floats shifted =
      x * 1.44269504f +
      12582912.0f;  // 1.5 * 2^23: the sum has no fraction bits, so it is rounded to integers
  const Floats n = shifted - 12582912.0f;
  const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Floats p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const Ints exponent = ((Ints)shifted - 0x4b400000 + 127) << 23;
  return p * (Floats)exponent;
}

SHARDLAB_INLINE Floats sigmoid(Floats x) {
  return 1.0f / (1.0f + exponential(-x));
}

}  // namespace shardlab::SHARDLAB_ISA
