#include "gui/panels/fit/fit_baseline.h"

#include "gui/shell/follow_why.h"
#include "gui/view_model/run_titles.h"

namespace shardlab::gui {

void FitBaseline::draw_buttons(Session& session) {
  const bool is_set = session.baseline() != nullptr;
  ImGui::BeginDisabled(session.stale() || (is_set && !session.left_baseline()));
  if (ImGui::SmallButton(is_set ? "Make this the baseline" : "Set as baseline")) session.set_baseline();
  ImGui::EndDisabled();
  ImGui::SetItemTooltip("Keeps this prediction: every edit then shows its effect against it");
  if (!is_set) return;
  ImGui::SameLine();
  if (ImGui::SmallButton("Forget the baseline")) session.clear_baseline();
}

void FitBaseline::draw(PanelContext& context) {
  Session& session = context.session;
  if (!session.left_baseline()) return;
  if (now_ != session.predicted_run() || baseline_ != session.baseline()) {
    now_ = session.predicted_run();
    baseline_ = session.baseline();
    table_ = view::baseline_table(*baseline_, *now_);
    title_ = view::titles_of({now_, baseline_})[1];
    ++version_;
  }
  ImGui::SeparatorText("Against the baseline");
  ImGui::SetItemTooltip("%s", title_.c_str());
  const GridEvents events =
      data_grid("baseline", table_, grid_,
                {.revision = version_, .size = {0, grid_height(table_.rows.size())}}, context.theme);
  follow_why(events.answer, now_.get(), context);
}

}  // namespace shardlab::gui
