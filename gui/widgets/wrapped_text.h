// A line of marked text, wrapped: spans in their fonts, words of the glossary as links.
#pragma once

#include "engine/lessons/markdown.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

struct WrappedText {
  bool is_head = false;  // of a table: strong as a whole
  float room = 0;        // where it is wrapped
  float step = 0;        // from line to line
};

// In the present font and colour; takes its place as one item. What is glued stays together.
void draw_wrapped(const lessons::MarkdownLine& line, const WrappedText& how, const Theme& theme);

}  // namespace shardlab::gui
