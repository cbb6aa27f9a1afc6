#include "gui/widgets/draw_markdown.h"

#include <algorithm>
#include <sstream>

#include "gui/widgets/wrapped_text.h"

namespace shardlab::gui {
namespace {

using lessons::MarkdownBlock;
using lessons::MarkdownLine;

constexpr float k_line = 1.3F;  // the distance of lines, in heights of the text

float room_here(const Theme& theme) {
  return std::max(ImGui::GetContentRegionAvail().x, theme.scaled(30));
}

void draw_line(const MarkdownLine& line, bool is_head, const Theme& theme) {
  ImGui::PushID(&line);
  draw_wrapped(line, {is_head, room_here(theme), ImGui::GetFontSize() * k_line}, theme);
  ImGui::PopID();
}

float widest_word(const MarkdownLine& line) {
  float widest = 0;
  std::istringstream words(lessons::plain_text(line));
  for (std::string word; words >> word;) widest = std::max(widest, ImGui::CalcTextSize(word.c_str()).x);
  return widest;
}

// As wide as its cells, or, where they may break, as their words. A heading always may.
float column_width(const MarkdownBlock& block, std::size_t column, bool breaks) {
  float width = 0;
  for (std::size_t row = 0; row < block.rows.size(); ++row) {
    if (column >= block.rows[row].size()) continue;
    const MarkdownLine& cell = block.rows[row][column];
    width = std::max(width, row == 0 || breaks ? widest_word(cell)
                                               : ImGui::CalcTextSize(lessons::plain_text(cell).c_str()).x);
  }
  return width * 1.06F;  // headings are in bold
}

// Whether the table has room with its figures in one line each, beside the words of its first column.
bool fits_in_lines(const MarkdownBlock& block, std::size_t columns) {
  float needed = column_width(block, 0, true);
  for (std::size_t i = 1; i < columns; ++i)
    needed += column_width(block, i, false) + 2 * ImGui::GetStyle().CellPadding.x;
  return needed <= ImGui::GetContentRegionAvail().x;
}

// Before its figures break, a table takes narrower gaps and then smaller letters.
class TableLook {
 public:
  TableLook(const MarkdownBlock& block, std::size_t columns) {
    if (fits_in_lines(block, columns)) return;
    const ImVec2 padding = ImGui::GetStyle().CellPadding;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {padding.x / 2, padding.y});
    is_narrow_ = true;
    if (fits_in_lines(block, columns)) return;
    ImGui::PushFont(nullptr, ImGui::GetFontSize() * k_smaller);
    is_small_ = true;
    breaks_ = !fits_in_lines(block, columns);
  }
  ~TableLook() {
    if (is_small_) ImGui::PopFont();
    if (is_narrow_) ImGui::PopStyleVar();
  }
  TableLook(const TableLook&) = delete;
  TableLook& operator=(const TableLook&) = delete;

  bool breaks() const { return breaks_; }

 private:
  static constexpr float k_smaller = 0.88F;
  bool is_narrow_ = false, is_small_ = false, breaks_ = false;
};

// The first column says what a row is about, the others are figures.
void draw_table(const MarkdownBlock& block, int number, const Theme& theme) {
  std::size_t columns = 0;
  for (const auto& row : block.rows) columns = std::max(columns, row.size());
  if (columns == 0) return;
  ImGui::PushID(number);
  const TableLook look(block, columns);
  const bool breaks = look.breaks();
  const ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("##table", static_cast<int>(columns), flags)) {
    for (std::size_t i = 0; i < columns; ++i)
      ImGui::TableSetupColumn("",
                              i == 0 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed,
                              i == 0 ? 1 : column_width(block, i, breaks));
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      ImGui::TableNextRow();
      for (const MarkdownLine& cell : block.rows[r]) {
        ImGui::TableNextColumn();
        if (r == 0 || breaks || &cell == &block.rows[r].front())
          draw_line(cell, r == 0, theme);
        else
          ImGui::TextUnformatted(lessons::plain_text(cell).c_str());
      }
    }
    ImGui::EndTable();
  }
  ImGui::PopID();
}

void draw_item(const MarkdownBlock& block, const Theme& theme) {
  const float begin = ImGui::GetCursorPosX();
  ImGui::SetCursorPosX(begin + theme.scaled(6));
  const bool is_number = block.mark != "-";
  ImGui::TextUnformatted(is_number ? block.mark.c_str() : "\xE2\x80\xA2");
  ImGui::SameLine();
  ImGui::SetCursorPosX(begin + theme.scaled(is_number ? 30 : 20));
  draw_line(block.line, false, theme);
}

}  // namespace

void draw_markdown(const std::vector<MarkdownBlock>& text, const Theme& theme) {
  ImGui::PushID(&text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const MarkdownBlock& block = text[i];
    const bool in_list = i > 0 && block.kind == MarkdownBlock::Kind::item && text[i - 1].kind == block.kind;
    if (i > 0 && !in_list) ImGui::Spacing();
    switch (block.kind) {
      case MarkdownBlock::Kind::paragraph: draw_line(block.line, false, theme); break;
      case MarkdownBlock::Kind::item: draw_item(block, theme); break;
      case MarkdownBlock::Kind::table: draw_table(block, static_cast<int>(i), theme); break;
      case MarkdownBlock::Kind::code:
        ImGui::PushID(static_cast<int>(i));
        draw_fixed_text("##code", block.code, theme);
        ImGui::PopID();
        break;
    }
  }
  ImGui::PopID();
}

void draw_prose(const std::string& text, const Theme& theme, float room) {
  if (room <= 0) room = room_here(theme);
  ImGui::PushID(text.c_str());
  std::istringstream lines(text);
  int number = 0;
  for (std::string each; std::getline(lines, each); ++number) {
    const MarkdownLine line{{.text = each}};
    ImGui::PushID(number);
    draw_wrapped(line, {false, room, ImGui::GetTextLineHeight()}, theme);
    ImGui::PopID();
  }
  ImGui::PopID();
}

void draw_fixed_text(const char* id, const std::string& text, const Theme& theme) {
  ImGui::PushFont(theme.fonts.mono, k_mono_size);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  const bool scrolls = size.x + 2 * padding.x > ImGui::GetContentRegionAvail().x;
  const float bar = scrolls ? ImGui::GetStyle().ScrollbarSize : 0;
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, padding);
  if (ImGui::BeginChild(id, {0, size.y + 2 * padding.y + bar}, ImGuiChildFlags_Borders,
                        ImGuiWindowFlags_HorizontalScrollbar))
    ImGui::TextUnformatted(text.c_str());
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

}  // namespace shardlab::gui
