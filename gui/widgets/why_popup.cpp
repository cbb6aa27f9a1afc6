#include "gui/widgets/why_popup.h"

#include <utility>

#include "gui/widgets/draw_markdown.h"

namespace shardlab::gui {
namespace {

void draw_parts(const view::Why& why, const Theme& theme, WhyAnswer& answer) {
  if (why.parts.empty()) return;
  // Many parts scroll: the pop-up stays inside the window.
  const float row = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  const float most = theme.scaled(260);
  const float height = row * static_cast<float>(why.parts.size());
  ImGuiTableFlags flags = ImGuiTableFlags_SizingFixedFit;
  if (height > most) flags |= ImGuiTableFlags_ScrollY;
  if (!ImGui::BeginTable("parts", 2, flags, {0, height > most ? most : 0})) return;
  for (std::size_t i = 0; i < why.parts.size(); ++i) {
    const view::WhyPart& part = why.parts[i];
    ImGui::PushID(static_cast<int>(i));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (!part.instruction) ImGui::TextDisabled("%s", part.label.c_str());
    if (part.instruction && ImGui::TextLink(part.label.c_str())) answer.go_to = part.instruction;
    ImGui::TableNextColumn();
    ImGui::TextUnformatted(part.value.c_str());
    ImGui::PopID();
  }
  ImGui::EndTable();
}

WhyAnswer draw_why(const view::Why& why, const Theme& theme) {
  WhyAnswer answer;
  ImGui::PushTextWrapPos(theme.scaled(440));
  ImGui::TextDisabled("%s", why.title.c_str());
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(why.value.c_str());
  ImGui::PopFont();
  const float room = theme.scaled(440);
  draw_prose(why.formula, theme, room);
  draw_parts(why, theme, answer);
  if (!why.settings.empty()) ImGui::TextDisabled("decided by");
  for (const std::string& key : why.settings)
    if (ImGui::TextLink(key.c_str())) answer.setting = key;
  if (!why.source.empty()) ImGui::TextDisabled("source: %s", why.source.c_str());
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  for (const std::string& note : why.notes) draw_prose(note, theme, room);
  ImGui::PopStyleColor();
  ImGui::PopTextWrapPos();
  if (ImGui::SmallButton("Copy the answer")) ImGui::SetClipboardText(view::to_text(why).c_str());
  if (answer.go_to || answer.setting) ImGui::CloseCurrentPopup();
  return answer;
}

}  // namespace

bool is_why_asked() {
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Right)) return true;
  const ImGuiIO& io = ImGui::GetIO();
  return !io.WantTextInput && io.InputQueueCharacters.contains(static_cast<ImWchar>('?'));
}

void WhyPopup::ask(std::optional<view::Why> why) {
  why_ = std::move(why);
  opens_ = true;
}

WhyAnswer WhyPopup::draw(const Theme& theme, const view::DataTable* table) {
  WhyAnswer answer;
  if (std::exchange(opens_, false)) ImGui::OpenPopup("why");
  if (!ImGui::BeginPopup("why")) return answer;
  if (why_) {
    answer = draw_why(*why_, theme);
    if (table != nullptr) ImGui::SameLine();
  } else if (table == nullptr) {
    ImGui::TextDisabled("Nothing is known about this number.");
  }
  if (table != nullptr && ImGui::SmallButton("Copy the table as CSV")) {
    ImGui::SetClipboardText(to_csv(*table).c_str());
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
  return answer;
}

void why_button(const char* label, WhyPopup& popup, const Theme& theme,
                const std::function<std::optional<view::Why>()>& make) {
  ImGui::PushStyleColor(ImGuiCol_TextLink, theme.dimmed);
  const std::string shown = std::string("why?##") + label;
  if (ImGui::TextLink(shown.c_str())) popup.ask(make());
  ImGui::PopStyleColor();
}

}  // namespace shardlab::gui
