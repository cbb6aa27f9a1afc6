// Shapes of tensors, outermost dimension first, and the attributes of operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/dtype.h"

namespace shardlab {

using Shape = std::vector<std::int64_t>;

constexpr std::int64_t element_count(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

// Named numbers of an operator ("heads" 32, "epsilon" 1e-5), in the order the family gave them. Names are
// string literals.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string_view, double>> values) : values_(values) {}

  // The value of a name that the operator's type requires; 0 for an absent one.
  double number(std::string_view name) const {
    for (const auto& [key, value] : values_) {
      if (key == name) return value;
    }
    return 0;
  }
  void add(std::string_view name, double value) { values_.emplace_back(name, value); }
  std::int64_t integer(std::string_view name) const { return static_cast<std::int64_t>(number(name)); }
  const std::vector<std::pair<std::string_view, double>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string_view, double>> values_;
};

}  // namespace shardlab
