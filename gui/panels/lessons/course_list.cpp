#include "gui/panels/lessons/course_list.h"

#include <imgui.h>
#include <misc/cpp/imgui_stdlib.h>

#include <algorithm>

#include "gui/widgets/error_text.h"

namespace shardlab::gui {
namespace {

void draw_next(view::LessonJob& job, const Theme& theme) {
  const auto& shelf = job.view().shelf;
  const view::ShelfLesson* const next = shelf ? shelf->next() : nullptr;
  if (next == nullptr) return;
  if (ImGui::Button(next->state.empty() ? "Begin" : "Go on")) job.open(next->folder.string());
  ImGui::SameLine();
  ImGui::PushFont(theme.fonts.bold, 0);
  ImGui::TextUnformatted(next->title.c_str());
  ImGui::PopFont();
}

void draw_row(const view::ShelfLesson& lesson, view::LessonJob& job, const Theme& theme) {
  ImGui::TableNextRow();
  ImGui::TableSetColumnIndex(1);
  const float room = ImGui::GetContentRegionAvail().x;
  const float height = ImGui::CalcTextSize(lesson.title.c_str(), nullptr, false, room).y;
  ImGui::TableSetColumnIndex(0);
  const bool clicked =
      ImGui::Selectable((lesson.number + "##" + lesson.name).c_str(), false,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap, {0, height});
  ImGui::TableNextColumn();
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(lesson.title.c_str());
  ImGui::PopTextWrapPos();
  ImGui::TableNextColumn();
  ImGui::TextDisabled("%d min", lesson.minutes);
  ImGui::TableNextColumn();
  ImGui::TextColored(ImColor(lesson.finished ? theme.good : theme.text), "%s", lesson.state.c_str());
  if (clicked) job.open(lesson.folder.string());
}

// As wide in every part.
float state_width(const view::LessonShelf& shelf) {
  float width = ImGui::CalcTextSize("coming").x;
  for (const view::ShelfPart& part : shelf.parts) {
    for (const view::ShelfLesson& lesson : part.lessons)
      width = std::max(width, ImGui::CalcTextSize(lesson.state.c_str()).x);
  }
  return width;
}

void draw_part(const view::ShelfPart& part, view::LessonJob& job, const Theme& theme) {
  ImGui::SeparatorText(part.title.c_str());
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("%s %d minutes.", part.about.c_str(), part.minutes);
  ImGui::PopTextWrapPos();
  if (!ImGui::BeginTable(part.title.c_str(), 4, ImGuiTableFlags_SizingFixedFit)) return;
  ImGui::TableSetupColumn("number", ImGuiTableColumnFlags_WidthFixed, ImGui::CalcTextSize("00").x);
  ImGui::TableSetupColumn("title", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("minutes", ImGuiTableColumnFlags_WidthFixed, ImGui::CalcTextSize("00 min").x);
  ImGui::TableSetupColumn("state", ImGuiTableColumnFlags_WidthFixed, state_width(*job.view().shelf));
  for (const view::ShelfLesson& lesson : part.lessons) draw_row(lesson, job, theme);
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

}  // namespace

void CourseList::draw_other(view::LessonJob& job, const Theme& theme) {
  ImGui::SetNextItemWidth(-theme.scaled(90));
  const bool entered = ImGui::InputTextWithHint("##folder", "a folder with a lesson.yaml, or a number",
                                                &folder_, ImGuiInputTextFlags_EnterReturnsTrue);
  ImGui::SameLine();
  const bool pressed = ImGui::Button("Open");
  if ((entered || pressed) && !folder_.empty()) job.open(folder_);
}

void CourseList::draw_begin(view::LessonJob& job, const Theme& theme) {
  draw_next(job, theme);
  draw_other(job, theme);
}

void CourseList::draw_course(view::LessonJob& job, const Theme& theme) const {
  const view::LessonView& view = job.view();
  for (const std::optional<Error>& error : {view.error, view.shelf_error})
    if (error) draw_error(*error, theme);
  if (view.shelf) {
    for (const view::ShelfPart& part : view.shelf->parts) draw_part(part, job, theme);
  } else if (!view.shelf_error) {
    ImGui::TextDisabled("Reading ...");
  }
}

}  // namespace shardlab::gui
