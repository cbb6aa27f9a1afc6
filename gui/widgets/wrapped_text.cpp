#include "gui/widgets/wrapped_text.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "gui/view_model/words/unbroken.h"
#include "gui/view_model/words/word_links.h"
#include "gui/widgets/word_link.h"

namespace shardlab::gui {
namespace {

using lessons::MarkdownLine;
using lessons::MarkdownSpan;

constexpr std::size_t k_long = 24;  // bytes of a name that may break

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
  bool unit = false;   // of the figure before it, behind a space
  const lessons::GlossaryWord* term = nullptr;
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

std::vector<lessons::WordInText> terms_of(const MarkdownSpan& span, const Theme& theme) {
  if (theme.words == nullptr || !span.link.empty()) return {};
  return theme.words->find(span.text, span.strong || span.code);
}

// From `at` to the next blank, or to where a word of the glossary begins or ends.
DrawnWord next_word(std::string_view text, std::size_t at, const std::vector<lessons::WordInText>& terms) {
  std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
  // A long name may break behind its dots.
  const std::size_t dot = text.substr(0, end).find_first_of("._", at);
  if (end - at > k_long && dot != std::string_view::npos) end = dot + 1;
  DrawnWord word;
  for (const lessons::WordInText& term : terms) {
    if (term.begin > at) end = std::min(end, term.begin);
    if (at < term.begin || at >= term.begin + term.size) continue;
    end = std::min(end, term.begin + term.size);
    word.term = term.word;
  }
  word.text = text.substr(at, end - at);
  return word;
}

std::vector<DrawnWord> words_of(const MarkdownLine& line, bool is_head, const Theme& theme) {
  std::vector<DrawnWord> words;
  bool space = true;
  for (const MarkdownSpan& span : line) {
    const TextFont font = font_of(span, is_head, theme);
    const std::vector<lessons::WordInText> terms = terms_of(span, theme);
    const std::string_view text = span.text;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == ' ' || text[at] == '\n') {
        space = true;
        ++at;
        continue;
      }
      DrawnWord word = next_word(text, at, terms);
      word.span = &span;
      word.width = width_of(word.text, font);
      word.glued = !space && !words.empty();
      word.unit = space && !words.empty() && view::is_unit_behind(words.back().text, word.text);
      at += word.text.size();
      words.push_back(word);
      space = false;
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
  if (word.term != nullptr)
    word_link((std::string(word.text) + "##word").c_str(), at, end, *word.term, theme);
  if (!is_link || !ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(at, end)) return;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  ImGui::SetTooltip("%s\na click copies the address", word.span->link.c_str());
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) ImGui::SetClipboardText(word.span->link.c_str());
}

}  // namespace

void draw_wrapped(const MarkdownLine& line, const WrappedText& how, const Theme& theme) {
  const std::vector<DrawnWord> words = words_of(line, how.is_head, theme);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float space = width_of(" ", {theme.fonts.text, ImGui::GetFontSize(), 0});
  float x = 0, y = 0, widest = 0;
  for (std::size_t i = 0; i < words.size();) {
    std::size_t end = i + 1;
    float width = words[i].width;
    for (; end < words.size() && (words[end].glued || words[end].unit); ++end)
      width += words[end].width + (words[end].unit ? space : 0);
    if (width > how.room) {  // no line has room for all of it
      end = i + 1;
      width = words[i].width;
    }
    if (x > 0 && !words[i].glued) x += space;
    if (x > 0 && x + width > how.room) {
      x = 0;
      y += how.step;
    }
    for (const std::size_t begin = i; i < end; ++i) {
      if (i > begin && words[i].unit) x += space;
      ImGui::PushID(static_cast<int>(i));
      draw_word(words[i], {std::round(origin.x + x), std::round(origin.y + y)}, how.is_head, theme);
      ImGui::PopID();
      x += words[i].width;
    }
    widest = std::max(widest, x);
  }
  ImGui::Dummy({widest, y + how.step});
}

}  // namespace shardlab::gui
