// Texts with a little Markdown, drawn with the window's fonts: paragraphs, lists, tables, code. Words of the
// glossary open their definition.
#pragma once

#include <string>
#include <vector>

#include "engine/lessons/markdown.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// As wide as there is room. A click on a link copies its address.
void draw_markdown(const std::vector<lessons::MarkdownBlock>& text, const Theme& theme);

// A text without any marks, in the present colour and font; `room` is where it is wrapped, 0: as above.
void draw_prose(const std::string& text, const Theme& theme, float room = 0);

// Lines of text that are drawn as they are, in a font of one width; scrolls where there is not room.
void draw_fixed_text(const char* id, const std::string& text, const Theme& theme);

}  // namespace shardlab::gui
