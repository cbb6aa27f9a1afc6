#include <fmt/core.h>

#include "engine/base/parse.h"
#include "engine/base/unit_names.h"

namespace shardlab {

std::string format_number(double value) {
  return fmt::format("{}", value);
}

std::string format_bytes(Bytes bytes) {
  for (const Unit& unit : k_sizes) {
    if (bytes.value != 0 && bytes.value % unit.size == 0 && unit.name != "B")
      return fmt::format("{}{}", bytes.value / unit.size, unit.name);
  }
  return fmt::format("{}", bytes.value);
}

std::string format_duration(Nanoseconds time) {
  for (const Unit& unit : k_times) {
    if (time.value != 0 && time.value % unit.size == 0)
      return fmt::format("{}{}", time.value / unit.size, unit.name);
  }
  return "0s";
}

std::string format_fraction(double fraction) {
  const std::string percent = fmt::format("{}%", fraction * 100);
  const auto back = parse_fraction(percent);
  return back && *back == fraction ? percent : format_number(fraction);
}

}  // namespace shardlab
