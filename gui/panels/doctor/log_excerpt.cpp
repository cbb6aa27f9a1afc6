#include "gui/panels/doctor/log_excerpt.h"

#include <fmt/format.h>

#include "gui/session/examined_log.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

constexpr int k_rows = 9;

void draw_line(std::int64_t number, const std::string& text, bool is_chosen, const Theme& theme) {
  const ImVec2 top = ImGui::GetCursorScreenPos();
  if (is_chosen) {
    const float width = ImGui::GetContentRegionAvail().x + ImGui::GetScrollX() + ImGui::GetScrollMaxX();
    ImGui::GetWindowDrawList()->AddRectFilled(
        top, {top.x + width, top.y + ImGui::GetTextLineHeightWithSpacing()}, faded(theme.accent, 0.25F));
  }
  ImGui::TextDisabled("%s", fmt::format("{:>6}", number).c_str());
  ImGui::SameLine(0, theme.scaled(10));
  ImGui::TextUnformatted(text.c_str());
  named_area(text.c_str(), ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
}

}  // namespace

void draw_log_excerpt(const std::map<std::int64_t, std::string>& lines, std::int64_t line, bool is_new,
                      const Theme& theme) {
  ImGui::PushFont(theme.fonts.mono, k_small_size);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, theme.scaled(2)});
  const float height = ImGui::GetTextLineHeightWithSpacing() * k_rows + theme.scaled(22);
  if (ImGui::BeginChild("lines", {0, height}, ImGuiChildFlags_Borders,
                        ImGuiWindowFlags_HorizontalScrollbar)) {
    const auto end = lines.upper_bound(line + ExaminedLog::k_lines_around);
    for (auto each = lines.lower_bound(line - ExaminedLog::k_lines_around); each != end; ++each) {
      draw_line(each->first, each->second, each->first == line, theme);
      if (is_new && each->first == line) ImGui::SetScrollHereY(0.5F);
    }
  }
  ImGui::PopStyleVar();
  ImGui::EndChild();
  ImGui::PopFont();
}

}  // namespace shardlab::gui
