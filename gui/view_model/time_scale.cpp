#include "gui/view_model/time_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace shardlab::view {

std::string axis_time(double ns, double visible) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr std::array<Unit, 4> k_units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  // The unit of which several are visible.
  const auto unit = std::find_if(k_units.begin(), k_units.end() - 1,
                                 [visible](const Unit& each) { return visible >= 2 * each.ns; });
  constexpr double k_ticks = 20;
  const double step = std::max(visible / k_ticks / unit->ns, 1e-9);
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(step))), 0, 6);
  const double value = ns / unit->ns;
  const double rounded = std::abs(value) < std::pow(10, -decimals) / 2 ? 0 : value;  // no "-0"
  return fmt::format("{:.{}f} {}", rounded, unit->ns == 1 ? 0 : decimals, unit->name);
}

}  // namespace shardlab::view
