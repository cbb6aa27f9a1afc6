#include "gui/shell/follow_why.h"

#include "gui/shell/run_state.h"

namespace shardlab::gui {

void follow_why(const WhyAnswer& answer, const view::LoadedRun* run, PanelContext& context) {
  if (answer.go_to && run != nullptr) choose_in(context.session, *run, *answer.go_to);
  if (!answer.setting) return;
  context.session.selection().choose_setting(*answer.setting);
  context.to_front.push_back("scenario");
}

}  // namespace shardlab::gui
