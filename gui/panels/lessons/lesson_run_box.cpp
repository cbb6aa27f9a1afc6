#include "gui/panels/lessons/lesson_run_box.h"

#include "gui/shell/job_progress.h"
#include "gui/widgets/draw_markdown.h"
#include "gui/widgets/error_text.h"
#include "gui/widgets/named_area.h"

namespace shardlab::gui {
namespace {

void draw_run(const Result<view::LessonRun>& run, const Theme& theme) {
  if (!run) return draw_error(run.error(), theme);
  draw_fixed_text("##figures", run->figures, theme);
  named_area("the run and its prediction", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  for (const Error& problem : run->problems) {
    draw_error(problem, theme);
    named_area("what does not hold", ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  }
  ImGui::Spacing();
  draw_markdown(run->after, theme);
}

}  // namespace

void LessonRunBox::update(Session& session, view::LessonJob& job) {
  if (!started_ || !started_->job->poll() || running() || told_) return;
  told_ = true;
  // Nothing of it is left beside the lesson, however the window ends.
  const ScenarioCopy no_longer_needed = std::move(started_->scenario);
  std::vector<RunId> runs;
  for (const view::StoredByJob& stored : started_->job->output().stored) {
    if (stored.kind == RunKind::measured) runs.push_back(stored.id);
  }
  if (runs.empty()) return;
  session.selection().choose_runs(runs);
  chosen_ = runs;
  if (is_of(job.view())) job.take_run(runs.back());
}

bool LessonRunBox::is_of(const view::LessonView& shown) const {
  return shown.step == step_ && shown.page && shown.page->run && shown.page->run->scene.file == scene_;
}

void LessonRunBox::leave_step(Session& session) {
  if (!chosen_.empty() && session.selection().runs() == chosen_) session.selection().choose_runs({});
  chosen_.clear();
}

void LessonRunBox::start(const view::RunPage& page, Session& session, int step) {
  started_.reset();
  auto started = start_run(Document(page.scene.text, page.scene.file), view::JobKind::run, session.database(),
                           session.program());
  if (!started) {
    session.messages().add(started.error(), "run", session.now());
    return;
  }
  session.messages().clear("run");
  started_.emplace(*std::move(started));
  step_ = step;
  scene_ = page.scene.file;
  told_ = false;
}

void LessonRunBox::draw(const view::RunPage& page, Session& session, view::LessonJob& job,
                        const Theme& theme) {
  draw_fixed_text("##command", page.command, theme);
  if (running()) {
    if (ImGui::Button("Stop")) started_->job->stop();
  } else {
    ImGui::BeginDisabled(session.database().empty() || job.busy());
    if (ImGui::Button("Train it now")) start(page, session, job.view().step);
    ImGui::EndDisabled();
  }
  const bool is_of_this_step = started_ && is_of(job.view());
  if (is_of_this_step) draw_job_progress(*started_->job, theme);
  if (is_of_this_step && !running())
    ImGui::TextDisabled("%s", std::string(to_string(started_->job->phase())).c_str());
  if (job.view().run) draw_run(*job.view().run, theme);
}

}  // namespace shardlab::gui
