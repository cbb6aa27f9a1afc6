// Whole numbers of JSON, exactly. The library's own conversion cuts what does not fit off, and what it makes
// of 1e300 is anything.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace shardlab {

// Throws an exception of the library, as its own conversions do, for what is no whole number from `least` to
// `most`. A number with a fraction of zero is one.
std::int64_t json_integer(const nlohmann::json& value, std::int64_t least, std::int64_t most);
std::int64_t json_integer(const nlohmann::ordered_json& value, std::int64_t least, std::int64_t most);

// The same as a number of type T; beyond 2^63 - 1 there are none.
template <typename T, typename Json>
T json_number(const Json& value) {
  using Limits = std::numeric_limits<T>;
  constexpr bool k_is_wide = Limits::digits > std::numeric_limits<std::int64_t>::digits;
  return static_cast<T>(json_integer(
      value, static_cast<std::int64_t>(Limits::min()),
      k_is_wide ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(Limits::max())));
}

// Those of a list, and those of an object by their names.
template <typename T, typename Json>
std::vector<T> json_numbers(const Json& list) {
  std::vector<T> numbers;
  for (const Json& value : list.template get_ref<const typename Json::array_t&>())
    numbers.push_back(json_number<T>(value));
  return numbers;
}
template <typename T, typename Json>
std::map<std::string, T> json_named_numbers(const Json& object) {
  std::map<std::string, T> numbers;
  for (const auto& [name, value] : object.template get_ref<const typename Json::object_t&>())
    numbers.emplace(name, json_number<T>(value));
  return numbers;
}

}  // namespace shardlab
