#include "gui/widgets/word_link.h"

#include <imgui_internal.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/view_model/words/word_links.h"

namespace shardlab::gui {
namespace {

void draw_meaning(const lessons::GlossaryWord& word, const char* how, const Theme& theme) {
  ImGui::PushFont(theme.fonts.bold, k_text_size);
  ImGui::TextUnformatted(fmt::format("{}", fmt::join(word.names, ", ")).c_str());
  ImGui::PopFont();
  ImGui::PushFont(theme.fonts.text, k_text_size);
  ImGui::TextUnformatted(word.meaning.c_str());
  ImGui::TextDisabled("%s", how);
  ImGui::PopFont();
}

bool begin_tip(const Theme& theme) {
  if (!ImGui::BeginTooltip()) return false;
  ImGui::PushTextWrapPos(theme.scaled(420));
  return true;
}

void end_tip() {
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace

void word_link(const char* label, ImVec2 min, ImVec2 max, const lessons::GlossaryWord& word,
               const Theme& theme) {
  const ImRect box(min, max);
  const ImGuiID id = ImGui::GetID(label);
  if (!ImGui::ItemAdd(box, id, nullptr, ImGuiItemFlags_NoTabStop)) return;
  ImGuiContext& g = *ImGui::GetCurrentContext();  // the name that the macro expects
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label, 0);
  bool hovered = false, held = false;
  if (ImGui::ButtonBehavior(box, id, &hovered, &held)) theme.words->open(word);
  ImGui::GetWindowDrawList()->AddLine({min.x, max.y}, max, faded(theme.accent, hovered ? 1 : 0.45F),
                                      theme.scaled(1));
  if (!hovered) return;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  if (!begin_tip(theme)) return;
  draw_meaning(word, "a click shows it in a plan", theme);
  end_tip();
}

void word_under_mouse(std::string_view text, const Theme& theme) {
  if (theme.words != nullptr && ImGui::IsItemHovered()) theme.words->point_at(text);
}

void word_tip(std::string_view text, std::string_view says, const Theme& theme) {
  if (!ImGui::IsItemHovered()) return;
  const lessons::GlossaryWord* const word = theme.words == nullptr ? nullptr : theme.words->point_at(text);
  if (word == nullptr && says.empty()) return;
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_DelayNormal) || !begin_tip(theme)) return;
  if (!says.empty()) ImGui::TextUnformatted(says.data(), says.data() + says.size());
  if (!says.empty() && word != nullptr) ImGui::Separator();
  if (word != nullptr) draw_meaning(*word, "F1 shows it in a plan", theme);
  end_tip();
}

}  // namespace shardlab::gui
