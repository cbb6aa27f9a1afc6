// The middle of some figures. Private to the doctor.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace shardlab {

// The upper of the middle two; `values` must not be empty.
template <typename Figure>
Figure middle_of(std::vector<Figure> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace shardlab
