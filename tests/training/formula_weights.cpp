#include "tests/training/formula_weights.h"

#include "engine/base/hash.h"

namespace shardlab::test {

void fill_formula_weights(std::string_view name, std::span<float> values) {
  constexpr std::uint64_t k_golden = 0x9E3779B97F4A7C15ULL;
  const bool norm = name.ends_with("norm.weight");
  const float base = norm ? 1.0F : 0.0F;
  const float scale = norm ? 0.125F : name.ends_with("bias") ? 0.0078125F : 0.034641016F;
  std::uint64_t state = fnv1a_64(name);
  for (float& value : values) {
    state += k_golden;
    const auto top = static_cast<float>(splitmix64(state) >> 40U);
    value = base + scale * (2 * (top / 16777216.0F) - 1);
  }
}

}  // namespace shardlab::test
