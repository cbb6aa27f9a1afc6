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

std::vector<double> tick_places(double from, double to, int most) {
  const double least_step = (to - from) / most;
  const double power = std::pow(10, std::floor(std::log10(least_step)));
  constexpr std::array<double, 3> k_steps = {1, 2, 5};
  const auto fits = [&](double step) { return step * power >= least_step; };
  const auto found = std::find_if(k_steps.begin(), k_steps.end(), fits);
  const double step = (found == k_steps.end() ? 10 : *found) * power;
  std::vector<double> places;
  for (double i = std::ceil(from / step); i * step <= to; ++i) places.push_back(i * step);
  return places;
}

}  // namespace shardlab::view
