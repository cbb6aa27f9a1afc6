// What a rank needs as a bar, with the line of what it may use. Private to this folder.
#pragma once

#include "gui/view_model/memory/fit_view.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Tensors in the colours of their classes, what lies beside them in grey; the capacity is a line, and what
// goes beyond it is visible as such.
void draw_fit_bar(const view::FitView& view, const Theme& theme);

}  // namespace shardlab::gui
