#include "engine/doctor/series/growing_memory.h"

#include <array>

#include "engine/doctor/series/median.h"

namespace shardlab {
namespace {

constexpr std::size_t k_fewest = 12, k_most_kept = 1024, k_quarters = 4;
constexpr double k_grows = 0.1, k_part = 0.25;

}  // namespace

void MemoryTrack::take(double memory) {
  if (taken_++ % stride_ != 0) return;
  kept_.push_back(memory);
  if (kept_.size() < k_most_kept) return;
  std::vector<double> half;
  for (std::size_t i = 0; i < kept_.size(); i += 2) half.push_back(kept_[i]);
  kept_ = std::move(half);
  stride_ *= 2;
}

std::optional<Growth> MemoryTrack::growth() const {
  if (kept_.size() < k_fewest) return std::nullopt;
  std::array<double, k_quarters> medians{};
  for (std::size_t quarter = 0; quarter < k_quarters; ++quarter) {
    const auto begin = kept_.begin() + static_cast<std::ptrdiff_t>(quarter * kept_.size() / k_quarters);
    const auto end = kept_.begin() + static_cast<std::ptrdiff_t>((quarter + 1) * kept_.size() / k_quarters);
    medians[quarter] = middle_of(std::vector<double>{begin, end});
  }
  const double all = medians.back() - medians.front();
  if (medians.front() <= 0 || all < k_grows * medians.front()) return std::nullopt;
  for (std::size_t quarter = 1; quarter < k_quarters; ++quarter) {
    if (medians[quarter] - medians[quarter - 1] < k_part * all) return std::nullopt;
  }
  return Growth{medians.front(), medians.back()};
}

}  // namespace shardlab
