#include "gui/panels/export/difference_list.h"

#include <imgui.h>

#include <string>

namespace shardlab::gui {
namespace {

void faint_text(const std::string& text, const Theme& theme) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopStyleColor();
}

// What stands beside and below the setting's name.
void draw_change(const view::DifferenceLine& line, const Theme& theme) {
  ImGui::SameLine();
  ImGui::TextUnformatted(line.change.c_str());
  ImGui::Indent(theme.scaled(24));
  faint_text(line.effect.empty() ? line.why : line.effect + ": " + line.why, theme);
  ImGui::Unindent(theme.scaled(24));
}

void draw_lost(const view::DifferenceLine& line, view::AcceptedLosses& accepted, const Theme& theme) {
  bool is_accepted = accepted.has(line);
  ImGui::PushStyleColor(ImGuiCol_Text, is_accepted ? theme.text : theme.bad);
  if (ImGui::Checkbox(line.setting.c_str(), &is_accepted)) accepted.set(line, is_accepted);
  ImGui::PopStyleColor();
  ImGui::SetItemTooltip("Accept that this is lost: nothing is written while a loss is not accepted");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  draw_change(line, theme);
}

void draw_added(const view::DifferenceLine& line, const Theme& theme) {
  ImGui::PushStyleColor(ImGuiCol_Text, theme.fair);
  ImGui::TextUnformatted(line.setting.c_str());
  ImGui::PopStyleColor();
  draw_change(line, theme);
}

// The line of the program that has to say it.
void draw_elsewhere(const view::DifferenceLine& line, const Theme& theme) {
  ImGui::PushFont(theme.fonts.mono, k_mono_size);
  ImGui::TextUnformatted(line.change.c_str());
  ImGui::PopFont();
  ImGui::Indent(theme.scaled(24));
  faint_text(line.setting + ": " + line.why, theme);
  ImGui::Unindent(theme.scaled(24));
}

template <typename Draw>
void draw_section(const char* title, const std::vector<view::DifferenceLine>& lines, Draw draw) {
  if (lines.empty()) return;
  ImGui::SeparatorText(title);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    draw(lines[i]);
    ImGui::PopID();
  }
}

}  // namespace

void draw_differences(const view::ExportView& view, view::AcceptedLosses& accepted, const Theme& theme) {
  ImGui::PushTextWrapPos(0);
  draw_section("Lost: the files cannot say it", view.lost,
               [&](const view::DifferenceLine& line) { draw_lost(line, accepted, theme); });
  draw_section("Added by the tool", view.added,
               [&](const view::DifferenceLine& line) { draw_added(line, theme); });
  draw_section("The program has to say", view.elsewhere,
               [&](const view::DifferenceLine& line) { draw_elsewhere(line, theme); });
  ImGui::PopTextWrapPos();
}

}  // namespace shardlab::gui
