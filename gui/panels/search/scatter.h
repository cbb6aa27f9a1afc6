// Results of a search over two axes: each a point, or, of very many, how many lie at a place; and the front.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/view_model/search/point_density.h"
#include "gui/view_model/search/search_points.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

struct ScatterInputs {
  const view::SearchPoints& points;
  const std::vector<std::uint32_t>& passing;
  view::SearchAxis x, y;
  bool has_tokens = false;
  std::uint64_t revision = 0;  // grows whenever the first two are others
};

// Belongs to the panel: what is made of the inputs, once while they stay the same.
struct ScatterState {
  std::uint64_t revision = ~0ULL;
  view::SearchAxis x{}, y{};
  std::vector<double> xs, ys, front_x, front_y;  // of passing points, and of the front
  view::AxisRange x_range, y_range;
  view::PointDensity density;
};

// The point that was clicked, by its place among all.
std::optional<std::uint32_t> draw_scatter(const ScatterInputs& inputs, ScatterState& state,
                                          const Theme& theme);

}  // namespace shardlab::gui
