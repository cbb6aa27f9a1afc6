#include "gui/panels/export/file_preview.h"

#include <imgui.h>

#include <string>

#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

template <typename Draw>
void draw_visible(std::size_t lines, Draw draw) {
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(lines));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw(static_cast<std::size_t>(i));
}

void draw_diff_line(const view::DiffLine& line, const Theme& theme) {
  const auto show = [&](const char* mark, ImU32 colour) {
    ImGui::PushStyleColor(ImGuiCol_Text, colour);
    ImGui::TextUnformatted((mark + line.text).c_str());
    ImGui::PopStyleColor();
  };
  switch (line.kind) {
    case view::DiffLine::Kind::kept: return show("  ", theme.text);
    case view::DiffLine::Kind::removed: return show("- ", theme.bad);
    case view::DiffLine::Kind::added: return show("+ ", theme.good);
    case view::DiffLine::Kind::left_out: return show("  ", theme.dimmed);
  }
}

std::string whole_text(const view::StandingFile& file) {
  std::string text;
  for (std::size_t i = 0; i < file.lines.size(); ++i) text += (i == 0 ? "" : "\n") + file.lines[i];
  return text;
}

}  // namespace

void FilePreview::draw(const std::vector<view::StandingFile>& files, const Theme& theme) {
  if (!ImGui::BeginTabBar("files", ImGuiTabBarFlags_DrawSelectedOverline)) return;
  for (const view::StandingFile& file : files) {
    if (!begin_tab(file.name.c_str())) continue;
    draw_file(file, theme);
    ImGui::EndTabItem();
  }
  ImGui::EndTabBar();
}

void FilePreview::draw_file(const view::StandingFile& file, const Theme& theme) {
  if (ImGui::Button("Copy")) ImGui::SetClipboardText(whole_text(file).c_str());
  ImGui::SameLine();
  if (!file.difference.empty()) {
    ImGui::Checkbox("Difference", &differences_);
    ImGui::SameLine();
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ImColor(file.trouble ? theme.bad : theme.dimmed), "%s", standing_words(file).c_str());
  const bool is_shown =
      ImGui::BeginChild("text", {0, 0}, ImGuiChildFlags_Borders, ImGuiWindowFlags_HorizontalScrollbar);
  if (is_shown) {
    ImGui::PushFont(theme.fonts.mono, k_mono_size);
    if (differences_ && !file.difference.empty())
      draw_visible(file.difference.size(), [&](std::size_t i) { draw_diff_line(file.difference[i], theme); });
    else
      draw_visible(file.lines.size(), [&](std::size_t i) { ImGui::TextUnformatted(file.lines[i].c_str()); });
    ImGui::PopFont();
  }
  ImGui::EndChild();
}

}  // namespace shardlab::gui
