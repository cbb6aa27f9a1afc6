// What a step of a lesson looks at, beside the panels that show it.
#pragma once

#include "gui/panels/lessons/lesson_stage.h"
#include "gui/view_model/lessons/step_page.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

// Says what is looked at and shows it again on request; what the panels cannot show as the lesson does stands
// here as text.
void draw_look(const view::LookPage& look, LessonStage& stage, const Theme& theme);

}  // namespace shardlab::gui
