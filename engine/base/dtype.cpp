#include "engine/base/dtype.h"

#include <array>
#include <utility>

namespace shardlab {
namespace {
constexpr std::array<std::pair<DType, std::string_view>, 8> k_names{{{DType::float32, "float32"},
                                                                     {DType::bfloat16, "bfloat16"},
                                                                     {DType::float16, "float16"},
                                                                     {DType::float64, "float64"},
                                                                     {DType::int64, "int64"},
                                                                     {DType::int32, "int32"},
                                                                     {DType::uint16, "uint16"},
                                                                     {DType::uint8, "uint8"}}};
}  // namespace

std::string_view to_string(DType dtype) {
  for (const auto& [value, name] : k_names) {
    if (value == dtype) return name;
  }
  return "unknown";
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const auto& [value, known] : k_names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace shardlab
