// The fonts inside the program: Roboto for text, Inconsolata for numbers and plans. Glyphs are made as they
// are needed, at any scale.
#pragma once

#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Adds them to the atlas of the current Dear ImGui context, which must be new.
Fonts load_fonts();

}  // namespace shardlab::gui
