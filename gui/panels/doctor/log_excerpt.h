// The lines of a log around one of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "gui/widgets/theme.h"

namespace shardlab::gui {

// `lines` by their number, as far as they were kept; the `line` in the middle is marked. `is_new`: it was not
// shown in the frame before, and is brought into view.
void draw_log_excerpt(const std::map<std::int64_t, std::string>& lines, std::int64_t line, bool is_new,
                      const Theme& theme);

}  // namespace shardlab::gui
