#include "engine/checkpoint/float_conversion.h"

#include <bit>
#include <cstring>

namespace shardlab {
namespace {

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

float float16_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU;
  const std::uint32_t fraction = bits & 0x3ffU;
  if (exponent == 0) {  // zero and subnormal: fraction * 2^-24
    const float value = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

template <typename T, typename Convert>
void convert(std::span<const std::byte> raw, std::span<float> values, Convert to_float) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    values[i] = to_float(value);
  }
}

}  // namespace

void convert_to_float(DType dtype, std::span<const std::byte> raw, std::span<float> values) {
  if (values.empty()) return;  // and has no address that could be copied to
  switch (dtype) {
    case DType::bfloat16: convert<std::uint16_t>(raw, values, bfloat16_to_float); break;
    case DType::float16: convert<std::uint16_t>(raw, values, float16_to_float); break;
    case DType::float64:
      convert<double>(raw, values, [](double value) { return static_cast<float>(value); });
      break;
    default: std::memcpy(values.data(), raw.data(), values.size_bytes()); break;
  }
}

}  // namespace shardlab
