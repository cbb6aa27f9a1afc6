#include "engine/base/units.h"

#include <array>
#include <cstddef>

#include <fmt/core.h>

namespace shardlab {
namespace {

struct Scale {
  double size;
  const char* name;
};

template <std::size_t N>
std::string scaled(double value, const std::array<Scale, N>& scales, const char* smallest) {
  for (const Scale& scale : scales) {
    if (std::abs(value) < scale.size) continue;
    const double shown = value / scale.size;
    const int digits = std::abs(shown) < 10 ? 2 : std::abs(shown) < 100 ? 1 : 0;
    return fmt::format("{:.{}f} {}", shown, digits, scale.name);
  }
  return fmt::format("{:.0f} {}", value, smallest);
}

}  // namespace

std::string to_string(Bytes bytes) {
  static constexpr std::array<Scale, 4> scales{
      {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}}};
  return scaled(static_cast<double>(bytes.value), scales, "B");
}

std::string to_string(Nanoseconds time) {
  static constexpr std::array<Scale, 3> scales{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  return scaled(static_cast<double>(time.value), scales, "ns");
}

std::string to_string(Flops flops) {
  static constexpr std::array<Scale, 4> scales{
      {{1e15, "PFLOP"}, {1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}}};
  return scaled(static_cast<double>(flops.value), scales, "FLOP");
}

}  // namespace shardlab
