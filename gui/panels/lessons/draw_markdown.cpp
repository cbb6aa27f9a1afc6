#include "gui/panels/lessons/draw_markdown.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace shardlab::gui {
namespace {

using lessons::MarkdownBlock;
using lessons::MarkdownLine;
using lessons::MarkdownSpan;

constexpr float k_line = 1.3F;  // the distance of lines, in heights of the text

struct TextFont {
  ImFont* font = nullptr;
  float size = 0;
  float down = 0;  // from the top of a line of plain text, so that all stand on one line
};

struct DrawnWord {
  std::string_view text;
  const MarkdownSpan* span = nullptr;
  float width = 0;
  bool glued = false;  // to the one before, without a space
};

float ascent(ImFont* font, float size) {
  return font->GetFontBaked(size)->Ascent;
}

// A heading row of a table is strong as a whole.
TextFont font_of(const MarkdownSpan& span, bool is_head, const Theme& theme) {
  const float plain = ImGui::GetFontSize();
  if (span.code) {
    const float size = plain * k_mono_size / k_text_size;
    return {theme.fonts.mono, size, ascent(theme.fonts.text, plain) - ascent(theme.fonts.mono, size)};
  }
  return {span.strong || is_head ? theme.fonts.bold : theme.fonts.text, plain, 0};
}

float width_of(std::string_view text, const TextFont& font) {
  return font.font->CalcTextSizeA(font.size, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
}

std::vector<DrawnWord> words_of(const MarkdownLine& line, bool is_head, const Theme& theme) {
  std::vector<DrawnWord> words;
  bool space = true;
  for (const MarkdownSpan& span : line) {
    const TextFont font = font_of(span, is_head, theme);
    const std::string_view text = span.text;
    for (std::size_t at = 0; at < text.size();) {
      const bool blank = text[at] == ' ' || text[at] == '\n';
      if (blank) {
        space = true;
        ++at;
        continue;
      }
      const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
      const std::string_view word = text.substr(at, end - at);
      words.push_back({word, &span, width_of(word, font), !space && !words.empty()});
      space = false;
      at = end;
    }
  }
  return words;
}

void draw_word(const DrawnWord& word, ImVec2 at, bool is_head, const Theme& theme) {
  const TextFont font = font_of(*word.span, is_head, theme);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + word.width, at.y + ImGui::GetFontSize()};
  const bool is_link = !word.span->link.empty();
  if (word.span->code)
    list.AddRectFilled({at.x - theme.scaled(1), at.y - theme.scaled(1)},
                       {end.x + theme.scaled(1), end.y + theme.scaled(2)},
                       ImGui::GetColorU32(ImGuiCol_FrameBg), theme.scaled(3));
  list.AddText(font.font, font.size, {at.x, at.y + font.down},
               ImGui::GetColorU32(is_link ? ImGuiCol_TextLink : ImGuiCol_Text), word.text.data(),
               word.text.data() + word.text.size());
  if (!is_link || !ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(at, end)) return;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  ImGui::SetTooltip("%s\na click copies the address", word.span->link.c_str());
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) ImGui::SetClipboardText(word.span->link.c_str());
}

// Wrapped at the right edge of the room. What is glued stays together. Takes its place as one item.
void draw_line(const MarkdownLine& line, bool is_head, const Theme& theme) {
  const std::vector<DrawnWord> words = words_of(line, is_head, theme);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float room = std::max(ImGui::GetContentRegionAvail().x, theme.scaled(80));
  const float space = width_of(" ", {theme.fonts.text, ImGui::GetFontSize(), 0});
  const float step = ImGui::GetFontSize() * k_line;
  float x = 0, y = 0, widest = 0;
  for (std::size_t i = 0; i < words.size();) {
    std::size_t end = i + 1;
    float width = words[i].width;
    for (; end < words.size() && words[end].glued; ++end) width += words[end].width;
    if (x > 0) x += space;
    if (x > 0 && x + width > room) {
      x = 0;
      y += step;
    }
    for (; i < end; ++i) {
      draw_word(words[i], {std::round(origin.x + x), std::round(origin.y + y)}, is_head, theme);
      x += words[i].width;
    }
    widest = std::max(widest, x);
  }
  ImGui::Dummy({widest, y + step});
}

// The first column says what a row is about, the others are figures.
void draw_table(const MarkdownBlock& block, int number, const Theme& theme) {
  std::size_t columns = 0;
  for (const auto& row : block.rows) columns = std::max(columns, row.size());
  if (columns == 0) return;
  ImGui::PushID(number);
  const ImGuiTableFlags flags = ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("##table", static_cast<int>(columns), flags)) {
    for (std::size_t i = 0; i < columns; ++i)
      ImGui::TableSetupColumn("",
                              i == 0 ? ImGuiTableColumnFlags_WidthStretch : ImGuiTableColumnFlags_WidthFixed);
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      ImGui::TableNextRow();
      for (const MarkdownLine& cell : block.rows[r]) {
        ImGui::TableNextColumn();
        if (&cell == &block.rows[r].front()) {
          draw_line(cell, r == 0, theme);
        } else {  // a column of figures is as wide as the widest
          if (r == 0) ImGui::PushFont(theme.fonts.bold, 0);
          ImGui::TextUnformatted(lessons::plain_text(cell).c_str());
          if (r == 0) ImGui::PopFont();
        }
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

void draw_markdown(const view::MarkdownText& text, const Theme& theme) {
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
