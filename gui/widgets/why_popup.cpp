#include "gui/widgets/why_popup.h"

namespace shardlab::gui {

WhyAnswer draw_why(const view::Why& why, const Theme& theme) {
  WhyAnswer answer;
  ImGui::PushTextWrapPos(theme.scaled(440));
  ImGui::TextDisabled("%s", why.title.c_str());
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(why.value.c_str());
  ImGui::PopFont();
  if (!why.formula.empty()) ImGui::TextUnformatted(why.formula.c_str());
  if (!why.parts.empty() && ImGui::BeginTable("parts", 2, ImGuiTableFlags_SizingFixedFit)) {
    for (std::size_t i = 0; i < why.parts.size(); ++i) {
      const view::WhyPart& part = why.parts[i];
      ImGui::PushID(static_cast<int>(i));
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      if (!part.instruction) ImGui::TextUnformatted(part.label.c_str());
      if (part.instruction && ImGui::TextLink(part.label.c_str())) answer.go_to = part.instruction;
      ImGui::TableNextColumn();
      ImGui::TextUnformatted(part.value.c_str());
      ImGui::PopID();
    }
    ImGui::EndTable();
  }
  if (!why.settings.empty()) ImGui::TextDisabled("decided by");
  for (const std::string& key : why.settings)
    if (ImGui::TextLink(key.c_str())) answer.setting = key;
  for (const std::string& note : why.notes) ImGui::TextDisabled("%s", note.c_str());
  ImGui::PopTextWrapPos();
  if (ImGui::SmallButton("Copy")) ImGui::SetClipboardText(view::to_text(why).c_str());
  if (answer.go_to || answer.setting) ImGui::CloseCurrentPopup();
  return answer;
}

WhyAnswer why_button(const char* label, const Theme& theme, const std::function<std::optional<view::Why>()>& make) {
  WhyAnswer answer;
  ImGui::PushID(label);
  ImGui::PushStyleColor(ImGuiCol_TextLink, theme.dimmed);
  const std::string shown = std::string("why?##") + label;
  if (ImGui::TextLink(shown.c_str())) ImGui::OpenPopup("why");
  ImGui::PopStyleColor();
  if (ImGui::BeginPopup("why")) {
    if (const auto why = make()) {
      answer = draw_why(*why, theme);
    } else {
      ImGui::TextDisabled("Nothing is known about this number.");
    }
    ImGui::EndPopup();
  }
  ImGui::PopID();
  return answer;
}

}  // namespace shardlab::gui
