// A word of the glossary within a text: a click opens its definition, the mouse over it says it.
#pragma once

#include "engine/lessons/word_list.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Underlines what is drawn there. `label` names it for tests; the ID scope tells several of one text apart.
void word_link(const char* label, ImVec2 min, ImVec2 max, const lessons::GlossaryWord& word,
               const Theme& theme);

}  // namespace shardlab::gui
