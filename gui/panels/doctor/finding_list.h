// All findings about one thing, and what was not looked for.
#pragma once

#include "gui/panels/doctor/finding_card.h"

namespace shardlab::gui {

// What is only worth knowing is folded where there is more than that.
CardEvents draw_finding_list(const view::FindingsView& view, const CardOptions& options, const Theme& theme);

}  // namespace shardlab::gui
