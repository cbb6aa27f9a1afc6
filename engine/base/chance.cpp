#include "engine/base/chance.h"

#include <fmt/format.h>

namespace shardlab {

std::string chance(double probability) {
  if (probability >= 0.995) return "over 99 %";
  if (probability < 0.005) return "under 1 %";
  return fmt::format("{:.0f} %", probability * 100);
}

}  // namespace shardlab
