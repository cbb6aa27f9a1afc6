#include "engine/model/constants.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

namespace shardlab {
namespace {

// What a constant holds: neither `alibi` nor one of the masks is a rotary table.
enum class Alibi : std::uint8_t { none, falcon, mpt };

// Rotary tables.
constexpr Attribute<double> k_theta{"theta"};
constexpr Attribute<RopeScaling> k_scaling{"scaling"};
constexpr Attribute<double> k_factor{"factor"};  // falcon's alibi has one too
constexpr Attribute<double> k_low_frequency_factor{"low_frequency_factor"};
constexpr Attribute<double> k_high_frequency_factor{"high_frequency_factor"};
constexpr Attribute<double> k_original_positions{"original_positions"};
constexpr Attribute<double> k_ramp_low{"ramp_low"};
constexpr Attribute<double> k_ramp_high{"ramp_high"};
constexpr Attribute<double> k_amplitude{"amplitude"};
constexpr Attribute<DType> k_frequency_dtype{"frequency_dtype"};
constexpr Attribute<std::int64_t> k_halves{"halves"};
// Alibi, and the masks.
constexpr Attribute<Alibi> k_alibi{"alibi"};
constexpr Attribute<double> k_bias_max{"bias_max"};
constexpr Attribute<bool> k_whole{"whole"};
constexpr Attribute<bool> k_causal_mask{"causal_mask"};
constexpr Attribute<std::int64_t> k_added_mask{"added_mask"};  // the window
constexpr Attribute<std::int64_t> k_seen_mask{"seen_mask"};    // likewise

double llama3_frequency(double frequency, const Attributes& attributes) {
  const double factor = attributes.get(k_factor);
  const double low = attributes.get(k_low_frequency_factor);
  const double high = attributes.get(k_high_frequency_factor);
  const double original = attributes.get(k_original_positions);
  const double wavelength = 2 * std::numbers::pi / frequency;
  if (wavelength < original / high) return frequency;
  if (wavelength > original / low) return frequency / factor;
  const double smooth = (original / wavelength - low) / (high - low);
  return (1 - smooth) * frequency / factor + smooth * frequency;
}

double yarn_frequency(double frequency, std::int64_t pair, const Attributes& attributes) {
  const double low = attributes.get(k_ramp_low), high = attributes.get(k_ramp_high);
  const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  return frequency * (1 - ramp) + frequency / attributes.get(k_factor) * ramp;
}

// Frequency of one pair of a head, scaled as rope_scaling says.
double scaled_frequency(double frequency, std::int64_t pair, const Attributes& attributes) {
  switch (attributes.get(k_scaling)) {
    case RopeScaling::linear: return frequency / attributes.get(k_factor);
    case RopeScaling::llama3: return llama3_frequency(frequency, attributes);
    case RopeScaling::yarn: return yarn_frequency(frequency, pair, attributes);
    case RopeScaling::none: break;
  }
  return frequency;
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

void fill_rope_table(const Tensor& tensor, std::span<float> values) {
  const std::int64_t positions = tensor.shape[1];
  const bool both = has_both_halves(tensor.attributes);
  const std::int64_t width = tensor.shape[2], half = both ? width / 2 : width;
  const double theta = tensor.attributes.get(k_theta);
  const auto amplitude = static_cast<float>(tensor.attributes.get_or(k_amplitude, 1));
  const DType dtype = tensor.attributes.get_or(k_frequency_dtype, DType::float32);
  for (std::int64_t pair = 0; pair < half; ++pair) {
    // transformers computes inverse frequencies and angles in float32; the table follows it to the last bit
    // that matters.
    const double exponent = static_cast<double>(2 * pair) / static_cast<double>(2 * half);
    const double plain = 1.0 / std::pow(theta, exponent);
    const auto exact = static_cast<float>(scaled_frequency(plain, pair, tensor.attributes));
    const auto frequency = static_cast<float>(rounded_to(dtype, exact));
    for (std::int64_t position = 0; position < positions; ++position) {
      const float angle = static_cast<float>(position) * frequency;
      for (std::int64_t column = pair; column < width; column += half) {
        const auto at = static_cast<std::size_t>(position * width + column);
        values[at] = std::cos(angle) * amplitude;
        values[at + static_cast<std::size_t>(positions * width)] = std::sin(angle) * amplitude;
      }
    }
  }
}

// The largest power of two that is at most, or the smallest that is at least, `heads`.
std::int64_t power_of_two(std::int64_t heads, bool at_least) {
  std::int64_t power = 1;
  while (power * 2 <= heads) power *= 2;
  return at_least && power < heads ? power * 2 : power;
}

// Heads up to a power of two n have slopes 2^(-8/n), 2^(-16/n) ..., those beyond it every second one of 2n.
double falcon_slope(std::int64_t head, std::int64_t heads) {
  const std::int64_t n = power_of_two(heads, false);
  const auto place = static_cast<double>(head < n ? head + 1 : 2 * (head - n) + 1);
  const auto of = static_cast<double>(head < n ? n : 2 * n);
  return std::pow(2.0, -8.0 * place / of);
}

void fill_falcon_alibi(const Tensor& tensor, std::span<float> values) {
  const std::int64_t heads = tensor.shape[0], positions = tensor.shape[1];
  const double factor = tensor.attributes.get(k_factor);
  for (std::int64_t head = 0; head < heads; ++head) {
    const double slope = rounded_to(DType::bfloat16, falcon_slope(head, heads));
    for (std::int64_t position = 0; position < positions; ++position) {
      const double product = slope * rounded_to(DType::bfloat16, static_cast<double>(position));
      values[static_cast<std::size_t>(head * positions + position)] =
          static_cast<float>(rounded_to(DType::bfloat16, product) * factor);
    }
  }
}

// The lowest number of a dtype that tensors compute in.
float lowest(DType dtype) {
  if (dtype == DType::float16) return -65504;
  return dtype == DType::bfloat16 ? -0x1.fep127f : std::numeric_limits<float>::lowest();
}

// The tables of all sequences, a row a query.
void fill_whole_falcon_alibi(const Tensor& tensor, std::span<float> values) {
  const std::int64_t heads = tensor.shape[1], positions = tensor.shape[3];
  Tensor table = tensor;
  table.shape = {heads, positions};
  std::vector<float> by_key(static_cast<std::size_t>(heads * positions));
  fill_falcon_alibi(table, by_key);
  const float hidden = lowest(tensor.dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t key = place % positions, row = place / positions, head = row / positions % heads;
    values[i] = key > row % positions ? hidden : by_key[static_cast<std::size_t>(head * positions + key)];
  }
}

// Slopes of the next power of two; where that is more than the heads, every second one first.
double mpt_slope(std::int64_t head, std::int64_t heads, double bias_max) {
  const std::int64_t n = power_of_two(heads, true);
  std::int64_t place = head + 1;
  if (n != heads) place = head < n / 2 ? 2 * head + 2 : 2 * (head - n / 2) + 1;
  return std::pow(2.0, -bias_max * static_cast<double>(place) / static_cast<double>(n));
}

void fill_mpt_alibi(const Tensor& tensor, std::span<float> values) {
  const std::int64_t heads = tensor.shape[0], positions = tensor.shape[1];
  for (std::int64_t head = 0; head < heads; ++head) {
    const auto slope = static_cast<float>(mpt_slope(head, heads, tensor.attributes.get(k_bias_max)));
    for (std::int64_t position = 0; position < positions; ++position) {
      values[static_cast<std::size_t>(head * positions + position)] =
          static_cast<float>(position - positions + 1) * slope;
    }
  }
}

void fill_causal_mask(const Tensor& tensor, std::span<float> values) {
  const std::int64_t queries = tensor.shape[2], keys = tensor.shape[3];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    values[i] = place % keys > place / keys % queries ? 1.0f : 0.0f;
  }
}

void fill_window(const Tensor& tensor, std::int64_t window, float seen, float hidden,
                 std::span<float> values) {
  const std::int64_t queries = tensor.shape[2], keys = tensor.shape[3];
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    const std::int64_t key = place % keys, query = place / keys % queries;
    const bool looks = key <= query && (window == 0 || key > query - window);
    values[i] = looks ? seen : hidden;
  }
}

}  // namespace

Attributes with_frequency_dtype(const Attributes& rope_table, DType dtype) {
  Attributes attributes = rope_table;
  if (dtype != DType::float32) attributes.set(k_frequency_dtype, dtype);
  return attributes;
}

bool has_both_halves(const Attributes& rope_table) {
  return rope_table.get_or(k_halves, 1) == 2;
}

Attributes with_both_halves(const Attributes& rope_table) {
  Attributes attributes = rope_table;
  attributes.set(k_halves, 2);
  return attributes;
}

Attributes rope_table_attributes(double theta, RopeScaling scaling, double factor,
                                 double low_frequency_factor, double high_frequency_factor,
                                 double original_positions) {
  return {{k_theta, theta},
          {k_scaling, scaling},
          {k_factor, factor},
          {k_low_frequency_factor, low_frequency_factor},
          {k_high_frequency_factor, high_frequency_factor},
          {k_original_positions, original_positions}};
}

Attributes yarn_table_attributes(double theta, double factor, double ramp_low, double ramp_high,
                                 double amplitude) {
  return {{k_theta, theta},       {k_scaling, RopeScaling::yarn}, {k_factor, factor},
          {k_ramp_low, ramp_low}, {k_ramp_high, ramp_high},       {k_amplitude, amplitude}};
}

Attributes falcon_alibi_attributes(double factor) {
  return {{k_alibi, Alibi::falcon}, {k_factor, factor}};
}

Attributes with_whole_matrices(const Attributes& falcon_alibi) {
  Attributes attributes = falcon_alibi;
  attributes.set(k_whole, true);
  return attributes;
}

Attributes mpt_alibi_attributes(double bias_max) {
  return {{k_alibi, Alibi::mpt}, {k_bias_max, bias_max}};
}

Attributes causal_mask_attributes() {
  return {{k_causal_mask, true}};
}

Attributes seen_mask_attributes(std::int64_t window) {
  return {{k_seen_mask, window}};
}

Attributes added_mask_attributes(std::int64_t window) {
  return {{k_added_mask, window}};
}

void fill_constant(const Tensor& tensor, std::span<float> values) {
  const Attributes& attributes = tensor.attributes;
  if (attributes.get_or(k_causal_mask, false)) return fill_causal_mask(tensor, values);
  if (const auto window = attributes.find(k_added_mask))
    return fill_window(tensor, *window, 0, lowest(tensor.dtype), values);
  if (const auto window = attributes.find(k_seen_mask)) return fill_window(tensor, *window, 1, 0, values);
  switch (attributes.get_or(k_alibi, Alibi::none)) {
    case Alibi::falcon:
      return attributes.get_or(k_whole, false) ? fill_whole_falcon_alibi(tensor, values)
                                               : fill_falcon_alibi(tensor, values);
    case Alibi::mpt: return fill_mpt_alibi(tensor, values);
    case Alibi::none: return fill_rope_table(tensor, values);
  }
}

}  // namespace shardlab
