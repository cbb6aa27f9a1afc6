#include "gui/panels/doctor/applied_fix.h"

#include "gui/panels/doctor/effect_table.h"

namespace shardlab::gui {

void AppliedFix::apply(const view::FindingCard& card, Session& session) {
  if (!session.set_all(card.set)) return;
  card_ = card;
  revision_ = session.document().revision();
  opened_ = session.documents_opened();
}

void AppliedFix::draw(Session& session, const Theme& theme) {
  const bool is_there =
      card_ && revision_ == session.document().revision() && opened_ == session.documents_opened();
  if (!is_there) return;
  ImGui::TextColored(ImColor(theme.good), "Applied");
  ImGui::SameLine(0, theme.scaled(8));
  if (ImGui::SmallButton("Undo")) session.undo();
  ImGui::PushFont(theme.fonts.mono, k_small_size);
  for (const std::string& setting : card_->set) ImGui::TextUnformatted(setting.c_str());
  ImGui::PopFont();
  draw_effect_table(card_->effect, theme);
  ImGui::Separator();
}

}  // namespace shardlab::gui
