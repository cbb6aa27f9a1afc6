#include "simulator/spread/draw.h"

namespace shardlab {
namespace {

// The mixing step of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
// OOPSLA 2014).
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

}  // namespace

double draw_normal(const DrawKey& key) {
  constexpr std::uint64_t k_places = 1U << 16U;
  std::uint64_t state = mixed(static_cast<std::uint64_t>(key.seed));
  state = mixed(state ^ key.purpose);
  state = mixed(state ^ key.whose);
  state = mixed(state ^ key.number);
  std::int64_t sum = 0;
  for (int word = 0; word < 3; ++word) {
    for (std::uint64_t rest = state = mixed(state), part = 0; part < 4; ++part, rest /= k_places)
      sum += static_cast<std::int64_t>(rest % k_places);
  }
  // Twelve numbers of mean (2^16 - 1) / 2.
  return static_cast<double>(sum - 6 * static_cast<std::int64_t>(k_places - 1)) /
         static_cast<double>(k_places);
}

}  // namespace shardlab
