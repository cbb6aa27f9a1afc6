// A word of the glossary within a text: a click opens its definition, the mouse over it says it.
#pragma once

#include <string_view>

#include "engine/lessons/word_list.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Underlines what is drawn there. `label` names it for tests; the ID scope tells several of one text apart.
void word_link(const char* label, ImVec2 min, ImVec2 max, const lessons::GlossaryWord& word,
               const Theme& theme);

// After an item whose text has no room for links, as a cell: while the mouse is over it F1 opens the first
// word in it.
void word_under_mouse(std::string_view text, const Theme& theme);
// The same of a heading or a legend; a tip says what is given, which may be empty, and the word's meaning.
void word_tip(std::string_view text, std::string_view says, const Theme& theme);

}  // namespace shardlab::gui
