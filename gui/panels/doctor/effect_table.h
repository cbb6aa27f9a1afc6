// What a fix changes: before, after, and how much.
#pragma once

#include <vector>

#include "gui/view_model/doctor/findings_view.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Nothing where there are no lines.
void draw_effect_table(const std::vector<view::EffectLine>& lines, const Theme& theme);

}  // namespace shardlab::gui
