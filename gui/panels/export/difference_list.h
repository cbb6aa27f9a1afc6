// How a run of the exported files differs from the scenario: each difference with its reason and its effect.
#pragma once

#include "gui/view_model/exports/export_view.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Losses have a box each, which accepts them.
void draw_differences(const view::ExportView& view, view::AcceptedLosses& accepted, const Theme& theme);

}  // namespace shardlab::gui
