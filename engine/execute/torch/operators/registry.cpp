#include <algorithm>
#include <array>
#include <utility>

#include "engine/execute/torch/operators/implementation_list.h"

namespace shardlab {
namespace {

using Row = std::pair<const OperatorType*, const OperatorImplementation*>;

#define SHARDLAB_ROW(name, device) Row{&k_##name, &k_##name##_implementation},
constexpr std::array k_rows = {SHARDLAB_OPERATORS(SHARDLAB_ROW)};
#undef SHARDLAB_ROW

}  // namespace

const OperatorImplementation* find_implementation(std::string_view name) {
  const auto found =
      std::find_if(k_rows.begin(), k_rows.end(), [&](const Row& row) { return row.first->name == name; });
  return found == k_rows.end() ? nullptr : found->second;
}

}  // namespace shardlab
