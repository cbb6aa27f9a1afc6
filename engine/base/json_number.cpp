#include "engine/base/json_number.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shardlab {
namespace {

constexpr double k_beyond = 9223372036854775808.0;  // 2^63

template <typename Json>
std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.template get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.template get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.template get<double>();
  if (!(number >= -k_beyond && number < k_beyond) || number != std::nearbyint(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

template <typename Json>
std::int64_t checked(const Json& value, std::int64_t least, std::int64_t most) {
  const std::optional<std::int64_t> number = whole_number(value);
  if (number && *number >= least && *number <= most) return *number;
  throw Json::type_error::create(
      302, fmt::format("a whole number from {} to {} is expected, not {}", least, most, value.type_name()),
      nullptr);
}

}  // namespace

std::int64_t json_integer(const nlohmann::json& value, std::int64_t least, std::int64_t most) {
  return checked(value, least, most);
}

std::int64_t json_integer(const nlohmann::ordered_json& value, std::int64_t least, std::int64_t most) {
  return checked(value, least, most);
}

}  // namespace shardlab
