// Lessons: the course with what is done of it, and the steps of a lesson, which open their scenarios in the
// other panels. Progress and answers are kept as `shardlab lesson` keeps them.
#include <fmt/format.h>
#include <imgui.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>

#include "gui/panels/lessons/draw_markdown.h"
#include "gui/panels/lessons/lesson_run_box.h"
#include "gui/panels/lessons/lesson_stage.h"
#include "gui/panels/lessons/question_form.h"
#include "gui/session/yaml_edit.h"
#include "gui/shell/panel.h"

namespace shardlab::gui {
namespace {

using lessons::LookPanel;
using lessons::StepKind;

void draw_failure(const Error& error, const Theme& theme) {
  ImGui::PushTextWrapPos(0);
  ImGui::TextColored(ImColor(theme.bad), "%s", to_string(error).c_str());
  ImGui::PopTextWrapPos();
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

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
    if (std::exchange(arrived_, job_.view().page) != job_.view().page) arrive();
    stage_.update(context);
  }

  void draw(PanelContext& context) override {
    follow_database(context.session);
    if (job_.view().lesson)
      draw_lesson(context);
    else
      draw_shelf(context);
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

  void draw_shelf(PanelContext& context) {
    const view::LessonView& view = job_.view();
    draw_next(context.theme);
    draw_other(context.theme);
    draw_trouble(context.theme);
    for (const std::optional<Error>& error : {view.error, view.shelf_error})
      if (error) draw_failure(*error, context.theme);
    if (view.shelf) {
      for (const view::ShelfPart& part : view.shelf->parts) draw_part(part, context.theme);
    } else if (!view.shelf_error) {
      ImGui::TextDisabled("Reading ...");
    }
  }

  void draw_next(const Theme& theme) {
    const auto& shelf = job_.view().shelf;
    const view::ShelfLesson* const next = shelf ? shelf->next() : nullptr;
    if (next == nullptr) return;
    if (ImGui::Button(next->state.empty() ? "Begin" : "Go on")) job_.open(next->folder.string());
    ImGui::SameLine();
    ImGui::PushFont(theme.fonts.bold, 0);
    ImGui::TextUnformatted(next->title.c_str());
    ImGui::PopFont();
  }

  // Above the course, which may be longer than the panel.
  void draw_other(const Theme& theme) {
    ImGui::SetNextItemWidth(-theme.scaled(90));
    const bool entered = ImGui::InputTextWithHint("##folder", "a folder with a lesson.yaml, or a number",
                                                  &folder_, ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine();
    const bool pressed = ImGui::Button("Open");
    if ((entered || pressed) && !folder_.empty()) job_.open(folder_);
  }

  void draw_part(const view::ShelfPart& part, const Theme& theme) {
    ImGui::SeparatorText(part.title.c_str());
    ImGui::PushTextWrapPos(0);
    ImGui::TextDisabled("%s %d minutes.", part.about.c_str(), part.minutes);
    ImGui::PopTextWrapPos();
    if (!ImGui::BeginTable(part.title.c_str(), 4, ImGuiTableFlags_SizingFixedFit)) return;
    // As wide in every part.
    ImGui::TableSetupColumn("number", ImGuiTableColumnFlags_WidthFixed, ImGui::CalcTextSize("00").x);
    ImGui::TableSetupColumn("title", ImGuiTableColumnFlags_WidthStretch);
    ImGui::TableSetupColumn("minutes", ImGuiTableColumnFlags_WidthFixed, ImGui::CalcTextSize("00 min").x);
    ImGui::TableSetupColumn("state", ImGuiTableColumnFlags_WidthFixed, state_width());
    for (const view::ShelfLesson& lesson : part.lessons) draw_row(lesson, theme);
    for (const lessons::ComingLesson& coming : part.coming) {
      ImGui::TableNextRow();
      ImGui::TableSetColumnIndex(1);
      ImGui::PushTextWrapPos(0);
      ImGui::TextDisabled("%s", coming.title.c_str());
      ImGui::SetItemTooltip("coming: waits for %s", coming.waits.c_str());
      ImGui::PopTextWrapPos();
      ImGui::TableSetColumnIndex(3);
      ImGui::TextDisabled("coming");
    }
    ImGui::EndTable();
  }

  float state_width() const {
    float width = ImGui::CalcTextSize("coming").x;
    for (const view::ShelfPart& part : job_.view().shelf->parts) {
      for (const view::ShelfLesson& lesson : part.lessons)
        width = std::max(width, ImGui::CalcTextSize(lesson.state.c_str()).x);
    }
    return width;
  }

  void draw_row(const view::ShelfLesson& lesson, const Theme& theme) {
    ImGui::TableNextRow();
    ImGui::TableSetColumnIndex(1);
    const float room = ImGui::GetContentRegionAvail().x;
    const float height = ImGui::CalcTextSize(lesson.title.c_str(), nullptr, false, room).y;
    ImGui::TableSetColumnIndex(0);
    const bool clicked = ImGui::Selectable(
        (lesson.number + "##" + lesson.name).c_str(), false,
        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap, {0, height});
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(lesson.title.c_str());
    ImGui::PopTextWrapPos();
    ImGui::TableNextColumn();
    ImGui::TextDisabled("%d min", lesson.minutes);
    ImGui::TableNextColumn();
    ImGui::TextColored(ImColor(lesson.finished ? theme.good : theme.text), "%s", lesson.state.c_str());
    if (clicked) job_.open(lesson.folder.string());
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
  void arrive() {
    form_.clear();
    scroll_up_ = true;
    stage_.clear();
    const auto& page = job_.view().page;
    if (page == nullptr) return;
    // The panel that would cover this one waits for a click.
    if (page->look && page->look->panel != LookPanel::fit) stage_.show(*page->look);
    if (page->question && page->question->scene) stage_.show(*page->question->scene);
    if (page->run) stage_.show(page->run->scene);
    if (page->free) {
      stage_.show_for_changes(page->free->scene);
      tried_ = fmt::format("{}", fmt::join(page->free->settings, " "));
    }
  }

  void draw_lesson(PanelContext& context) {
    const Theme& theme = context.theme;
    const view::LessonView& view = job_.view();
    draw_heading(theme);
    draw_trouble(theme);
    const float foot = ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().ItemSpacing.y + theme.scaled(2);
    if (ImGui::BeginChild("step", {0, -foot})) {
      if (std::exchange(scroll_up_, false)) ImGui::SetScrollY(0);
      if (view.error) draw_failure(*view.error, theme);
      if (view.page_error) draw_failure(*view.page_error, theme);
      if (view.page) draw_page(*view.page, context);
      if (view.at_end()) draw_end(theme);
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
    ImGui::TextDisabled("%d of %d", view.step, view.lesson->steps);
  }

  void leave(Session& session) {
    stage_.leave(session);
    job_.leave();
  }

  void draw_end(const Theme& theme) {
    ImGui::Spacing();
    ImGui::PushFont(theme.fonts.bold, 0);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(job_.view().end_words().c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopFont();
  }

  void draw_page(const view::StepPage& page, PanelContext& context) {
    if (stage_.waits()) draw_obstacle(context.session);
    if (page.look) draw_look(*page.look, context);
    draw_markdown(page.text, context.theme);
    ImGui::Spacing();
    if (page.question) form_.draw(*page.question, job_, context.session, context.theme);
    if (page.run) run_box_.draw(*page.run, context.session, job_, context.theme);
    if (page.free) draw_try(*page.free, context);
  }

  void draw_obstacle(const Session& session) {
    ImGui::PushTextWrapPos(0);
    ImGui::Text("%s has changes that are not saved. The lesson opens another scenario.",
                session.document().title().c_str());
    ImGui::PopTextWrapPos();
    if (ImGui::Button("Open without saving")) stage_.drop_edits();
    ImGui::Separator();
  }

  // What the panels cannot show as the lesson does stands here as text.
  void draw_look(const view::LookPage& look, PanelContext& context) {
    std::string where = fmt::format("{} of {}", to_string(look.panel), look.scenes.front().name);
    if (look.panel == LookPanel::compare) where = "compare";
    if (look.step != PlanPhase::steady) where += fmt::format(", step {}", to_string(look.step));
    if (look.rank != 0) where += fmt::format(", rank {}", look.rank);
    if (!look.highlight.empty()) where += ", look at " + look.highlight;
    ImGui::TextDisabled("%s", where.c_str());
    ImGui::SameLine();
    if (ImGui::SmallButton("Show")) stage_.show(look);
    if (look.panel == LookPanel::compare && look.scenes.size() > 2) draw_compared(look);
    const bool is_in_panel = look.step == PlanPhase::steady && look.panel != LookPanel::compare &&
                             look.panel != LookPanel::player && look.panel != LookPanel::fit;
    if (ImGui::CollapsingHeader("As text", is_in_panel ? 0 : ImGuiTreeNodeFlags_DefaultOpen))
      draw_fixed_text("##picture", look.picture, context.theme);
    ImGui::Spacing();
  }

  // The panel compares two of them; each can be opened beside the first.
  void draw_compared(const view::LookPage& look) {
    for (std::size_t i = 1; i < look.scenes.size(); ++i) {
      if (i > 1) ImGui::SameLine();
      const std::string label =
          fmt::format("{} and {}##compared", look.scenes.front().name, look.scenes[i].name);
      view::LookPage pair = look;
      if (!ImGui::SmallButton(label.c_str())) continue;
      pair.scenes = {look.scenes.front(), look.scenes[i]};
      stage_.show(pair);
    }
  }

  void draw_try(const view::TryPage& page, PanelContext& context) {
    ImGui::SetNextItemWidth(-context.theme.scaled(90));
    const bool entered = ImGui::InputTextWithHint("##settings", "key=value ...", &tried_,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::SameLine();
    const bool pressed = ImGui::Button("Try");
    if ((entered || pressed) && !tried_.empty()) try_now(page, context.session);
    const auto& effect = job_.view().effect;
    if (effect && !*effect) return draw_failure(effect->error(), context.theme);
    draw_fixed_text("##effect", effect ? **effect : page.effect, context.theme);
  }

  // One edit of the scenario that is open, which can be undone.
  void try_now(const view::TryPage& page, Session& session) {
    const std::vector<std::string> settings = words_of(tried_);
    job_.try_settings(settings);
    std::string text = page.scene.text;
    for (const std::string& setting : settings) {
      const std::size_t equals = setting.find('=');
      if (equals == std::string::npos) return;
      auto changed = set_yaml_value(text, setting.substr(0, equals), setting.substr(equals + 1));
      if (!changed) return;
      text = *std::move(changed);
    }
    stage_.change(page.scene, std::move(text), tried_, session);
  }

  view::LessonJob job_;
  LessonStage stage_;
  QuestionForm form_;
  LessonRunBox run_box_;
  std::shared_ptr<const view::StepPage> arrived_;  // whose scenario is shown
  bool scroll_up_ = false;
  bool begun_ = false;
  std::filesystem::path database_;
  std::uint64_t shelf_revision_ = 0, seen_wishes_ = 0;
  std::string folder_, tried_;
};

}  // namespace

std::unique_ptr<Panel> make_lessons_panel() {
  return std::make_unique<LessonsPanel>();
}

}  // namespace shardlab::gui
