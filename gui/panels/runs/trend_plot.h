// How the error of predictions went over time. Private to this folder.
#pragma once

#include <optional>
#include <vector>

#include "gui/view_model/run_list.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// The measured run whose point was clicked, if any.
std::optional<RunId> draw_trend(const std::vector<view::TrendPoint>& trend, const Theme& theme);

}  // namespace shardlab::gui
