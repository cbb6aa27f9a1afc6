#include "simulator/cost/formula_text.h"

#include <cmath>

#include <fmt/format.h>

namespace shardlab {
namespace {

std::int64_t rounded(double value) {
  return std::llround(value);
}

std::string per_second(double value, const char* unit) {
  static constexpr const char* prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  for (; value >= 1000 && prefix < 5; ++prefix) value /= 1000;
  return fmt::format("{:.3g} {}{}/s", value, prefixes[prefix], unit);
}

}  // namespace

std::string flops_text(double flops) {
  return to_string(Flops{rounded(flops)});
}
std::string bytes_text(double bytes) {
  return to_string(Bytes{rounded(bytes)});
}
std::string time_text(double nanoseconds) {
  return to_string(Nanoseconds{rounded(nanoseconds)});
}
std::string rate_text(FlopsPerSecond rate) {
  return per_second(rate.value, "FLOP");
}
std::string rate_text(BytesPerSecond rate) {
  return per_second(rate.value, "B");
}

std::string correction_text(const ShapeTable& table, const ShapeTable::Coordinates& shape) {
  return table.empty()
             ? std::string()
             : fmt::format(", times {:.3f} from {} measured shapes", table.correction(shape), table.size());
}

}  // namespace shardlab
