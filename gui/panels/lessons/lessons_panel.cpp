// Lessons: the course with what is done of it, and the steps of a lesson, which open their scenarios in the
// other panels. Progress and answers are kept as `shardlab lesson` keeps them.
#include <imgui.h>

#include <algorithm>

#include <fmt/format.h>

#include "gui/panels/lessons/course_list.h"
#include "gui/panels/lessons/lesson_look.h"
#include "gui/panels/lessons/lesson_run_box.h"
#include "gui/panels/lessons/lesson_stage.h"
#include "gui/panels/lessons/lesson_try_box.h"
#include "gui/panels/lessons/question_form.h"
#include "gui/shell/panel.h"
#include "gui/widgets/draw_markdown.h"
#include "gui/widgets/error_text.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

using lessons::LookPanel;

class LessonsPanel final : public Panel {
 public:
  PanelInfo info() const override {
    return {.id = "lessons",
            .title = "Lessons",
            .help = "A course in sharded training: texts, questions, and its scenarios in the other panels",
            .area = DockArea::right,
            .rank = 20,
            .shortcut = 0};
  }

  bool busy() const override { return job_.busy() || stage_.busy(); }

  void update(PanelContext& context) override {
    follow_wish(context);
    job_.poll();
    run_box_.update(context.session, job_);
    if (std::exchange(arrived_, job_.view().page) != job_.view().page) arrive(context.session);
    stage_.update(context);
    // What is read of a panel stands beside it, not behind it.
    const auto& page = job_.view().page;
    if (page != nullptr && page->shown() != nullptr && page->shown()->panel == LookPanel::fit)
      context.aside.push_back({panel_of(LookPanel::fit), info().id});
  }

  void draw(PanelContext& context) override {
    follow_database(context.session);
    if (job_.view().lesson)
      draw_lesson(context);
    else
      draw_list(context.theme);
  }

 private:
  // --- the list of lessons

  void follow_database(Session& session) {
    if (begun_ && session.database() == database_) {
      // Another program may have gone on with a lesson.
      const std::uint64_t revision = session.runs().view().revision;
      if (job_.view().lesson || job_.busy() || revision == shelf_revision_) return;
      shelf_revision_ = revision;
      job_.read_shelf();
      return;
    }
    begun_ = true;
    database_ = session.database();
    job_.use_database(database_);
    job_.read_shelf();
  }

  // The lesson goes on all the same.
  void draw_trouble(const Theme& theme) const {
    const std::optional<Error>& trouble = job_.view().trouble;
    if (!trouble) return;
    ImGui::PushTextWrapPos(0);
    ImGui::TextColored(ImColor(theme.fair), "Progress is not kept: %s", message_text(*trouble).c_str());
    ImGui::PopTextWrapPos();
  }

  void draw_list(const Theme& theme) {
    list_.draw_begin(job_, theme);
    draw_trouble(theme);
    list_.draw_course(job_, theme);
  }

  // Another part of the window, or the command line, wants one to be seen.
  void follow_wish(PanelContext& context) {
    const Selection& selection = context.session.selection();
    if (std::exchange(seen_wishes_, selection.lesson_changes()) == selection.lesson_changes()) return;
    follow_database(context.session);
    job_.open(selection.lesson().lesson, selection.lesson().step);
    context.to_front.push_back(info().id);
  }

  // --- a lesson

  // What a step shows elsewhere is shown when it is there.
  void arrive(Session& session) {
    form_.clear();
    run_box_.leave_step(session);
    scroll_up_ = true;
    stage_.clear();
    const auto& page = job_.view().page;
    if (page == nullptr) return;
    if (page->question && page->question->scene) stage_.show(*page->question->scene);
    // Beside a question its own scenario is the one that is shown.
    if (const view::LookPage* const shown = page->shown()) stage_.show(*shown);
    // Comparisons that an earlier step or lesson brought to the front have nothing to show in the next three.
    if (page->subject && stage_.shows_other_lesson(*page->subject, session)) {
      stage_.show(*page->subject);
      stage_.then_show_panel("memory");
    }
    if (page->run) {
      monitor_is_in_front_ = true;
      stage_.show(page->run->scene);
      stage_.then_show_panel("memory");
      stage_.then_show_panel("monitor");
    }
    if (page->free) {
      stage_.show_for_changes(page->free->scene);
      stage_.then_show_panel("memory");
      try_box_.propose(*page->free);
    }
    // Nothing runs beside the other steps.
    if (!page->run && std::exchange(monitor_is_in_front_, false)) stage_.then_show_panel(beside(*page));
  }

  // The panel that the step shows, where it lies below as the monitor does, else the timeline.
  static std::string beside(const view::StepPage& page) {
    const view::LookPage* const shown = page.shown();
    return shown != nullptr && shown->panel == LookPanel::player ? panel_of(shown->panel) : "timeline";
  }

  void draw_lesson(PanelContext& context) {
    const Theme& theme = context.theme;
    const view::LessonView& view = job_.view();
    draw_heading(theme);
    draw_trouble(theme);
    const float foot = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().ItemSpacing.y + theme.scaled(2);
    if (ImGui::BeginChild("step", {0, -foot})) {
      if (std::exchange(scroll_up_, false)) ImGui::SetScrollY(0);
      if (view.error) draw_error(*view.error, theme);
      if (view.page_error) draw_error(*view.page_error, theme);
      if (view.page) draw_page(*view.page, context);
      if (view.at_end()) draw_end(context.session, theme);
      if (!view.page && !view.page_error && !view.at_end()) ImGui::TextDisabled("Reckoning ...");
    }
    ImGui::EndChild();
    draw_foot(context.session);
  }

  void draw_heading(const Theme& theme) {
    const view::LessonView& view = job_.view();
    ImGui::PushFont(theme.fonts.bold, 0);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(view.lesson->title.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    const int steps = view.lesson->steps, step = std::min(view.step, steps);
    if (step == 1) {
      ImGui::PushTextWrapPos(0);
      ImGui::TextDisabled("Afterwards you can %s.", view.lesson->able.c_str());
      ImGui::PopTextWrapPos();
    }
    const float share = static_cast<float>(view.at_end() ? steps : step - 1) / static_cast<float>(steps);
    ImGui::PushStyleColor(ImGuiCol_PlotHistogram, faded(theme.accent, 0.7F));
    ImGui::ProgressBar(share, {-1, theme.scaled(5)}, "");
    ImGui::PopStyleColor();
  }

  // Back and Leave always work; Next waits for the answer of a question.
  void draw_foot(Session& session) {
    const view::LessonView& view = job_.view();
    ImGui::Separator();
    ImGui::BeginDisabled(view.step <= 1);
    if (ImGui::Button("Back")) job_.go_to(view.step - 1);
    ImGui::EndDisabled();
    ImGui::SameLine();
    if (!view.at_end()) {
      const bool waits = view.page == nullptr && !view.page_error;
      ImGui::BeginDisabled(waits || !view.may_go_on());
      if (ImGui::Button(view.step == view.lesson->steps ? "End" : "Next")) job_.go_to(view.step + 1);
      ImGui::EndDisabled();
      ImGui::SameLine();
    }
    if (ImGui::Button("Leave")) leave(session);
    if (!view.lesson || view.at_end()) return;
    ImGui::SameLine();
    const std::string place = fmt::format("{} of {}", view.step, view.lesson->steps);
    ImGui::TextDisabled("%s", place.c_str());
    name_text(place);
  }

  // A lesson of one's own has none behind it.
  void draw_next_lesson(Session& session) {
    const view::LessonView& view = job_.view();
    const view::ShelfLesson* const next = view.shelf ? view.shelf->after(view.lesson->folder) : nullptr;
    if (next == nullptr) return;
    ImGui::Spacing();
    const std::string folder = next->folder.string();
    const bool clicked = ImGui::Button("Next lesson");
    ImGui::PushTextWrapPos(0);
    ImGui::TextDisabled("%s, %d min", next->title.c_str(), next->minutes);
    ImGui::PopTextWrapPos();
    if (!clicked) return;
    leave(session);
    job_.open(folder);
  }

  void leave(Session& session) {
    run_box_.leave_step(session);
    stage_.leave(session);
    job_.leave();
  }

  void draw_end(Session& session, const Theme& theme) {
    ImGui::Spacing();
    ImGui::PushFont(theme.fonts.bold, 0);
    ImGui::PushTextWrapPos(0);
    const std::string words = job_.view().end_words();
    ImGui::TextUnformatted(words.c_str());
    name_text(words);
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
    draw_next_lesson(session);
  }

  void draw_page(const view::StepPage& page, PanelContext& context) {
    if (stage_.waits()) draw_obstacle(context.session);
    if (const view::LookPage* const shown = page.shown()) draw_look(*shown, stage_, context.theme);
    draw_markdown(page.text, context.theme);
    ImGui::Spacing();
    if (page.question) form_.draw(*page.question, job_, context.session, context.theme);
    if (page.run) run_box_.draw(*page.run, context.session, job_, context.theme);
    if (page.free) try_box_.draw(*page.free, job_, stage_, context.session, context.theme);
  }

  void draw_obstacle(const Session& session) {
    ImGui::PushTextWrapPos(0);
    ImGui::Text("%s has changes that are not saved. The lesson opens another scenario.",
                session.document().title().c_str());
    ImGui::PopTextWrapPos();
    if (ImGui::Button("Open without saving")) stage_.drop_edits();
    ImGui::Separator();
  }

  view::LessonJob job_;
  CourseList list_;
  LessonStage stage_;
  QuestionForm form_;
  LessonRunBox run_box_;
  LessonTryBox try_box_;
  std::shared_ptr<const view::StepPage> arrived_;  // whose scenario is shown
  bool scroll_up_ = false;
  bool begun_ = false;
  bool monitor_is_in_front_ = false;  // by a step that trains
  std::filesystem::path database_;
  std::uint64_t shelf_revision_ = 0, seen_wishes_ = 0;
};

}  // namespace

std::unique_ptr<Panel> make_lessons_panel() {
  return std::make_unique<LessonsPanel>();
}

}  // namespace shardlab::gui
