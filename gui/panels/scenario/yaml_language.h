// YAML for the text editor, which does not know it.
#pragma once

#include <TextEditor.h>

#include "gui/widgets/theme.h"

namespace shardlab::gui {

const TextEditor::Language* yaml_language();
TextEditor::Palette editor_palette(const Theme& theme);

}  // namespace shardlab::gui
