// What a click in an answer to "why?" does: goes to the instruction, or shows the setting in the form.
#pragma once

#include "gui/shell/panel.h"
#include "gui/widgets/why_popup.h"

namespace shardlab::gui {

// An instruction is one of the plan of `run`; null: there is none to go to.
void follow_why(const WhyAnswer& answer, const view::LoadedRun* run, PanelContext& context);

}  // namespace shardlab::gui
