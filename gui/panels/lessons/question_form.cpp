#include "gui/panels/lessons/question_form.h"

#include <fmt/format.h>
#include <misc/cpp/imgui_stdlib.h>

#include <utility>

#include "engine/lessons/mistake_source.h"
#include "gui/widgets/draw_markdown.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

// A verdict in its colour, which tests find by its words.
void draw_verdict(const char* words, ImU32 colour, const Theme& theme) {
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextColored(ImColor(colour), "%s", words);
  ImGui::PopFont();
  name_text(words);
}

void draw_reply(const view::LessonReply& reply, const Theme& theme) {
  ImGui::TextDisabled("%s", reply.typed.c_str());
  if (reply.right) draw_verdict("That is right.", theme.good, theme);
  if (reply.understood && !reply.right) draw_verdict("Not so.", theme.bad, theme);
  if (!reply.understood) draw_verdict("That is no answer.", theme.fair, theme);
  ImGui::BeginGroup();
  draw_markdown(reply.reply, theme);
  ImGui::EndGroup();
  name_text(lessons::plain_text(reply.reply));
  if (reply.source.empty()) return;
  const lessons::MistakeSource source = lessons::mistake_source(reply.source);
  ImGui::PushStyleColor(ImGuiCol_Text, theme.dimmed);
  draw_markdown({{.line = {{.text = "seen in "}, {.text = source.title, .link = source.address}}}}, theme);
  ImGui::PopStyleColor();
}

}  // namespace

void QuestionForm::draw_choices(const view::QuestionPage& question, bool open, view::LessonJob& job,
                                const Theme& theme) {
  for (std::size_t i = 0; i < question.choices.size(); ++i) {
    const std::string letter(1, static_cast<char>('a' + i));
    ImGui::BeginDisabled(!open || job.busy());
    if (ImGui::Button((letter + "##choice").c_str(), {theme.scaled(26), 0})) {
      if (question.is_choice)
        job.answer(letter);
      else
        typed_ += (typed_.empty() ? "" : " ") + letter;
    }
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::BeginGroup();
    ImGui::SetCursorPosY(ImGui::GetCursorPosY() + ImGui::GetStyle().FramePadding.y);
    draw_markdown(question.choices[i], theme);
    ImGui::EndGroup();
  }
}

// What is typed is read as the terminal reads it.
void QuestionForm::draw_field(const view::QuestionPage& question, view::LessonJob& job,
                              const Session& session, const Theme& theme) {
  ImGui::BeginDisabled(job.busy());
  if (question.is_instruction) {
    const auto chosen = session.chosen();
    const bool is_its = chosen && session.selection().in_plan(question.scene->plan_hash) == chosen;
    if (!is_its) {
      ImGui::TextDisabled("Choose one in Plan or Timeline, or type its number.");
    } else if (ImGui::Button(
                   fmt::format("{}##chosen", instruction_label(session.prediction()->plan(), *chosen))
                       .c_str())) {
      job.answer(std::to_string(chosen->index()));
    }
  }
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("%s", question.form.c_str());
  ImGui::PopTextWrapPos();
  ImGui::SetNextItemWidth(-theme.scaled(90));
  const bool entered = ImGui::InputText("##answer", &typed_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const bool pressed = ImGui::Button("Answer");
  if ((entered || pressed) && !typed_.empty()) job.answer(std::exchange(typed_, {}));
  ImGui::EndDisabled();
}

void QuestionForm::draw(const view::QuestionPage& question, view::LessonJob& job, const Session& session,
                        const Theme& theme) {
  const view::LessonView& view = job.view();
  const bool open = !view.may_go_on();
  draw_choices(question, open, job, theme);
  if (open && !question.is_choice) draw_field(question, job, session, theme);
  if (const auto replies = view.replies.find(view.step); replies != view.replies.end()) {
    ImGui::Spacing();
    for (const view::LessonReply& reply : replies->second) {
      ImGui::PushID(&reply);
      draw_reply(reply, theme);
      ImGui::PopID();
    }
  }
  ImGui::Spacing();
  if (open && ImGui::Button("Tell me")) job.tell();
  if (!view.told.contains(view.step)) return;
  draw_verdict("The answer:", theme.text, theme);
  draw_markdown(question.answer, theme);
}

}  // namespace shardlab::gui
