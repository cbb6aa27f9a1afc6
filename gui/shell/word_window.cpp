#include "gui/shell/word_window.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui_internal.h>
#include <misc/cpp/imgui_stdlib.h>

#include "gui/view_model/words/word_links.h"
#include "gui/widgets/draw_markdown.h"
#include "gui/widgets/error_text.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

constexpr float k_width = 580;  // a picture of 72 columns

void draw_lessons(const lessons::ExplainedWord& explained, Session& session) {
  for (const lessons::TeachingLesson& lesson : explained.lessons) {
    const std::string number = lesson.name.substr(0, lesson.name.find('-'));
    if (ImGui::TextLink(fmt::format("Lesson {}: {}", number, lesson.title).c_str()))
      session.selection().choose_lesson({lesson.name, 0});
  }
}

// Every word, as links in a line a section.
void draw_all_words(view::WordLinks& words, const Theme& theme) {
  const auto& glossary = words.glossary();
  if (!glossary) return draw_error(glossary.error(), theme);
  for (const lessons::GlossarySection& section : glossary->sections) {
    ImGui::TextDisabled("%s", section.title.c_str());
    const float edge = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    for (const lessons::GlossaryWord& word : section.words) {
      const std::string& name = word.names.front();
      const float gap = theme.scaled(10);
      const bool is_first = &word == &section.words.front();
      if (!is_first && ImGui::GetItemRectMax().x + gap + ImGui::CalcTextSize(name.c_str()).x < edge)
        ImGui::SameLine(0, gap);
      if (ImGui::TextLink(name.c_str())) words.open(word);
    }
  }
}

}  // namespace

// Where the mouse is, within the screen.
void WordWindow::place(const Theme& theme) const {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const float width = theme.scaled(k_width), most = viewport.WorkSize.y * 0.8F;
  ImVec2 at = ImGui::GetMousePos();
  const ImVec2 end{viewport.WorkPos.x + viewport.WorkSize.x, viewport.WorkPos.y + viewport.WorkSize.y};
  const bool is_low = at.y > viewport.WorkPos.y + viewport.WorkSize.y / 2;
  at.x = std::max(std::min(at.x, end.x - width - theme.scaled(8)), viewport.WorkPos.x);
  at.y = std::max(std::min(at.y + theme.scaled(is_low ? -14 : 14), end.y), viewport.WorkPos.y);
  ImGui::SetNextWindowPos(at, ImGuiCond_Always, {0, is_low ? 1.0F : 0.0F});
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, most});
  ImGui::SetNextWindowFocus();
}

void WordWindow::close(view::WordLinks& words) {
  words.close();
  asks_ = false;
  unknown_.reset();
  typed_.clear();
}

void WordWindow::draw(Session& session, const Theme& theme) {
  view::WordLinks& words = session.words();
  const view::WordCard* const card = words.card();
  if (card == nullptr && !asks_) return;
  const bool is_new = std::exchange(seen_, words.opened()) != words.opened();
  if (is_new) unknown_.reset();
  ImGui::SetNextWindowSizeConstraints({theme.scaled(k_width), 0},
                                      {theme.scaled(k_width), ImGui::GetMainViewport()->WorkSize.y * 0.8F});
  if (is_new || ImGui::FindWindowByName("Glossary###word") == nullptr) place(theme);
  bool open = true;
  const ImGuiWindowFlags flags = ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoDocking |
                                 ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse;
  if (ImGui::Begin("Glossary###word", &open, flags)) {
    if (card != nullptr) draw_card(*card, session, theme);
    draw_choice(words, theme);
    const bool is_ours = ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows);
    if (is_ours && ImGui::IsKeyPressed(ImGuiKey_Escape)) open = false;
  }
  ImGui::End();
  if (!open) close(words);
}

void WordWindow::draw_card(const view::WordCard& card, Session& session, const Theme& theme) {
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(fmt::format("{}", fmt::join(card.word->names, ", ")).c_str());
  ImGui::PopFont();
  draw_markdown(card.meaning, theme);
  ImGui::Spacing();
  if (!card.explained) return ImGui::TextDisabled("Reckoning ...");
  if (!*card.explained) return draw_error(card.explained->error(), theme);
  draw_fixed_text("##picture", (*card.explained)->picture, theme);
  named_area("the plan that shows it", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  draw_lessons(**card.explained, session);
}

void WordWindow::draw_choice(view::WordLinks& words, const Theme& theme) {
  ImGui::Separator();
  ImGui::BeginDisabled(!words.can_go_back());
  if (ImGui::Button("Back")) words.go_back();
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-theme.scaled(1));
  if (ImGui::InputTextWithHint("##another", "another word", &typed_, ImGuiInputTextFlags_EnterReturnsTrue)) {
    const Status opened = words.open(typed_);
    unknown_ = opened ? std::nullopt : std::optional(opened.error());
    if (opened) typed_.clear();
  }
  if (unknown_) {
    draw_error(*unknown_, theme);
    named_area("no such word", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  }
  if (ImGui::CollapsingHeader("All words", asks_ ? ImGuiTreeNodeFlags_DefaultOpen : 0))
    draw_all_words(words, theme);
}

}  // namespace shardlab::gui
