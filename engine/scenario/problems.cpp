#include "engine/scenario/problems.h"

#include <algorithm>

#include <fmt/core.h>

namespace shardlab {

Status Problems::status() const {
  constexpr std::size_t k_shown = 10;
  if (errors_.empty()) return {};
  if (errors_.size() == 1) return fail(errors_.front());
  Error all{errors_.front().kind, {}, {}, {}};
  for (std::size_t i = 0; i < std::min(errors_.size(), k_shown); ++i) {
    all.what += (i == 0 ? "" : "\n") + to_string(errors_[i]);
  }
  if (errors_.size() > k_shown) all.what += fmt::format("\nand {} more", errors_.size() - k_shown);
  return fail(std::move(all));
}

}  // namespace shardlab
