// The results of a search as numbers: a value for each axis, filters, and which point is near a place.
//
// Asked each frame: linear in the points, without allocating once vectors have grown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/words.h"
#include "gui/view_model/search/search_job.h"

namespace shardlab::view {

enum class SearchAxis : std::uint8_t {
  time,
  money,
  memory,
  gpus,
  step_time,
  tokens_per_second,
  micro_batch,
  fits
};
inline constexpr std::size_t k_search_axes = 8;

// "hours", "dollars", "GiB a rank" ...; without tokens times and money are those of a million.
std::string_view title_of(SearchAxis axis, bool has_tokens);

struct SearchPoints {
  std::array<std::vector<double>, k_search_axes> values;  // by SearchAxis; NaN: unknown
  std::vector<std::uint8_t> satisfies, on_front;
  std::vector<std::string> knobs;  // what the settings are, in words, for the filter
  std::size_t size() const { return satisfies.size(); }
  const std::vector<double>& of(SearchAxis axis) const { return values[static_cast<std::size_t>(axis)]; }
};

// In the order of result.simulated.
SearchPoints points_of(const SearchOutcome& outcome);

struct PointFilter {
  bool satisfying = true;  // these alone
  std::string text;        // every word stands in the settings' words
  friend bool operator==(const PointFilter&, const PointFilter&) = default;
};
// Which pass, ascending.
std::vector<std::uint32_t> passing(const SearchPoints& points, const PointFilter& filter);

// Those that no other passing one beats in both axes (the less, the better; of tokens_per_second, micro_batch
// and fits the more), by x.
std::vector<std::uint32_t> front_of(const SearchPoints& points, const std::vector<std::uint32_t>& passing,
                                    SearchAxis x, SearchAxis y);

struct AxisRange {
  double low = 0, high = 1;
};
// With a margin, so that no point lies on the frame; of nothing 0 to 1.
AxisRange range_of(const std::vector<double>& values, const std::vector<std::uint32_t>& passing);

// The one nearest to a place, both axes in units of `reach`; none within it: nothing.
std::optional<std::uint32_t> nearest_point(const std::vector<double>& x, const std::vector<double>& y,
                                           const std::vector<std::uint32_t>& passing,
                                           std::array<double, 2> place, std::array<double, 2> reach);

}  // namespace shardlab::view
