#include "gui/panels/doctor/effect_table.h"

#include <algorithm>
#include <string>

namespace shardlab::gui {
namespace {

void cell_at_the_right(const std::string& text) {
  ImGui::TableNextColumn();
  const float space = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(space, 0.0F));
  ImGui::TextUnformatted(text.c_str());
}

void heading_row() {
  ImGui::TableNextRow();
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
  ImGui::TableNextColumn();
  for (const char* const heading : {"before", "after", "change"}) cell_at_the_right(heading);
  ImGui::PopStyleColor();
}

}  // namespace

void draw_effect_table(const std::vector<view::EffectLine>& lines, const Theme& theme) {
  constexpr ImGuiTableFlags k_flags = ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_BordersInnerH;
  if (lines.empty() || !ImGui::BeginTable("effect", 4, k_flags | ImGuiTableFlags_NoHostExtendX)) return;
  ImGui::PushTextWrapPos(-1);  // columns are as wide as what stands in them
  ImGui::TableSetupColumn("figure");
  for (const char* const heading : {"before", "after", "change"})
    ImGui::TableSetupColumn(heading, ImGuiTableColumnFlags_WidthFixed, theme.scaled(60));
  heading_row();
  for (const view::EffectLine& line : lines) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%s", line.what.c_str());
    cell_at_the_right(line.before);
    cell_at_the_right(line.after);
    const bool changes = !line.change.empty();
    ImGui::PushStyleColor(ImGuiCol_Text, !changes ? theme.dimmed : line.is_better ? theme.good : theme.fair);
    cell_at_the_right(changes ? line.change : "same");
    ImGui::PopStyleColor();
  }
  ImGui::PopTextWrapPos();
  ImGui::EndTable();
}

}  // namespace shardlab::gui
