#include "gui/widgets/word_link.h"

#include <imgui_internal.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gui/view_model/words/word_links.h"

namespace shardlab::gui {
namespace {

void draw_meaning(const lessons::GlossaryWord& word, const Theme& theme) {
  if (!ImGui::BeginTooltip()) return;
  ImGui::PushTextWrapPos(theme.scaled(420));
  ImGui::PushFont(theme.fonts.bold, k_text_size);
  ImGui::TextUnformatted(fmt::format("{}", fmt::join(word.names, ", ")).c_str());
  ImGui::PopFont();
  ImGui::PushFont(theme.fonts.text, k_text_size);
  ImGui::TextUnformatted(word.meaning.c_str());
  ImGui::TextDisabled("a click shows it in a plan");
  ImGui::PopFont();
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
  draw_meaning(word, theme);
}

}  // namespace shardlab::gui
