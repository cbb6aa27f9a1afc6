#include "tests/training/formula_weights.h"

#include "engine/base/hash.h"

namespace shardlab::test {

namespace {

bool is_norm(std::string_view name) {
  return name.ends_with("norm.weight") || name.ends_with(".ln_1.weight") || name.ends_with(".ln_2.weight") ||
         name.ends_with(".ln_f.weight");
}

}  // namespace

std::vector<PublishedPiece> published_pieces(std::string_view name, const Shape& shape) {
  const bool gate_up = name.ends_with(".experts.gate_up_proj"), down = name.ends_with(".experts.down_proj");
  if (!gate_up && !down) return {{std::string(name), 0, element_count(shape)}};
  const std::string prefix(name.substr(0, name.rfind('.') + 1));
  const std::int64_t each = shape[1] * shape[2];
  std::vector<PublishedPiece> pieces;
  for (std::int64_t expert = 0; expert < shape[0]; ++expert) {
    const std::string base = prefix + std::to_string(expert) + ".";
    if (down) {
      pieces.push_back({base + "down_proj.weight", expert * each, each});
    } else {
      pieces.push_back({base + "gate_proj.weight", expert * each, each / 2});
      pieces.push_back({base + "up_proj.weight", expert * each + each / 2, each / 2});
    }
  }
  return pieces;
}

void fill_formula_weights(std::string_view name, std::span<float> values) {
  constexpr std::uint64_t k_golden = 0x9E3779B97F4A7C15ULL;
  const bool norm = is_norm(name);
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
