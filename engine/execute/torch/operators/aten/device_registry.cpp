#include <algorithm>
#include <array>
#include <utility>

#include "engine/execute/torch/operators/aten/device_operators.h"

namespace shardlab {
namespace {

using Row = std::pair<const OperatorType*, const OperatorImplementation*>;

#define SHARDLAB_IMPLEMENTATION_own(name) k_device_##name
#define SHARDLAB_IMPLEMENTATION_same(name) k_##name##_implementation
#define SHARDLAB_ROW(name, device) Row{&k_##name, &SHARDLAB_IMPLEMENTATION_##device(name)},
constexpr std::array k_rows = {SHARDLAB_OPERATORS(SHARDLAB_ROW)};
#undef SHARDLAB_ROW
#undef SHARDLAB_IMPLEMENTATION_same
#undef SHARDLAB_IMPLEMENTATION_own

}  // namespace

const OperatorImplementation* find_device_implementation(std::string_view name) {
  const auto found =
      std::find_if(k_rows.begin(), k_rows.end(), [&](const Row& row) { return row.first->name == name; });
  return found == k_rows.end() ? nullptr : found->second;
}

}  // namespace shardlab
