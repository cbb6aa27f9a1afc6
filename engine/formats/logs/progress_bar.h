// The progress bar of a training. Private to this folder.
#pragma once

#include <optional>
#include <string_view>

#include "engine/formats/logs/line_figures.h"

namespace shardlab {

// tqdm's ` 51%|#####1    | 507/1000 [15:32<16:42,  2.03s/it]` (tqdm/std.py, format_meter), the last of the
// line: the step, of how many, and the clock since the bar began. Not those with a name before them, which
// are of downloads and data.
std::optional<LineFigures> progress_figures(std::string_view line);

}  // namespace shardlab
