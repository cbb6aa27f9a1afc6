#include "engine/model/initial_weights.h"

#include <algorithm>

#include "engine/base/hash.h"

namespace shardlab {
namespace {
constexpr std::uint64_t k_seed_step = 0xD1B54A32D192ED03ULL;
}  // namespace

void fill_initial_weights(const Parameter& parameter, std::uint64_t seed, std::int64_t first,
                          std::span<float> values) {
  if (parameter.initial != InitialValue::uniform) {
    std::fill(values.begin(), values.end(), parameter.initial == InitialValue::ones ? 1.0F : 0.0F);
    return;
  }
  const auto scale = static_cast<float>(parameter.scale);
  const std::string& name = parameter.base_name.empty() ? parameter.name : parameter.base_name;
  std::uint64_t state =
      fnv1a_64(name) + seed * k_seed_step + static_cast<std::uint64_t>(first) * k_splitmix_step;
  for (float& value : values) {
    state += k_splitmix_step;
    const auto top = static_cast<float>(splitmix64(state) >> 40);
    value = scale * (2.0F * (top * 0x1p-24F) - 1.0F);
  }
}

}  // namespace shardlab
