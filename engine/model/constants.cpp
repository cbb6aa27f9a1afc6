#include "engine/model/constants.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace shardlab {
namespace {

// Frequency of one pair of a head, scaled as rope_scaling says.
double scaled_frequency(double frequency, const Attributes& attributes) {
  const double factor = attributes.number("factor");
  switch (attributes.integer("scaling")) {
    case 1:
      return frequency / factor;
    case 2:
      break;
    default:
      return frequency;
  }
  const double low = attributes.number("low_frequency_factor");
  const double high = attributes.number("high_frequency_factor");
  const double original = attributes.number("original_positions");
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < original / high) return frequency;
  if (wavelength > original / low) return frequency / factor;
  const double smooth = (original / wavelength - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

// The nearest number of the dtype, ties to even.
double rounded_to(DType dtype, double value) {
  if (value == 0 || (dtype != DType::bfloat16 && dtype != DType::float16)) return value;
  const int mantissa_bits = dtype == DType::bfloat16 ? 8 : 11;       // the leading one included
  const int least_exponent = dtype == DType::bfloat16 ? -133 : -24;  // of the smallest subnormal
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - mantissa_bits, least_exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
}

}  // namespace

Attributes with_frequency_dtype(const Attributes& rope_table, DType dtype) {
  Attributes attributes = rope_table;
  if (dtype != DType::float32) attributes.add("frequency_dtype", static_cast<double>(dtype));
  return attributes;
}

Attributes rope_table_attributes(double theta, int scaling, double factor, double low_frequency_factor,
                                 double high_frequency_factor, double original_positions) {
  return {{"theta", theta},
          {"scaling", scaling},
          {"factor", factor},
          {"low_frequency_factor", low_frequency_factor},
          {"high_frequency_factor", high_frequency_factor},
          {"original_positions", original_positions}};
}

void fill_constant(const Tensor& tensor, std::span<float> values) {
  const std::int64_t positions = tensor.shape[1];
  const std::int64_t half = tensor.shape[2];
  const double theta = tensor.attributes.number("theta");
  const auto dtype = static_cast<DType>(tensor.attributes.integer("frequency_dtype"));
  for (std::int64_t pair = 0; pair < half; ++pair) {
    // transformers computes inverse frequencies and angles in float32; the table follows it to the last bit
    // that matters.
    const double exponent = static_cast<double>(2 * pair) / static_cast<double>(2 * half);
    const auto exact =
        static_cast<float>(scaled_frequency(1.0 / std::pow(theta, exponent), tensor.attributes));
    const auto frequency = static_cast<float>(rounded_to(dtype, exact));
    for (std::int64_t position = 0; position < positions; ++position) {
      const float angle = static_cast<float>(position) * frequency;
      const auto at = static_cast<std::size_t>(position * half + pair);
      values[at] = std::cos(angle);
      values[at + static_cast<std::size_t>(positions * half)] = std::sin(angle);
    }
  }
}

}  // namespace shardlab
