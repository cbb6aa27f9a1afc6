// Texts of lessons, drawn with the window's fonts: paragraphs, lists, tables, code.
#pragma once

#include "gui/view_model/lessons/step_page.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// As wide as there is room. A click on a link copies its address.
void draw_markdown(const view::MarkdownText& text, const Theme& theme);

// Lines of text that are drawn as they are, in a font of one width; scrolls where there is not room.
void draw_fixed_text(const char* id, const std::string& text, const Theme& theme);

}  // namespace shardlab::gui
