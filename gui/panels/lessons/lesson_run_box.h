// The real run of a lesson: started as a child process, watched, and compared when it is done.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "gui/session/run_start.h"
#include "gui/session/session.h"
#include "gui/view_model/lessons/lesson_job.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

class LessonRunBox {
 public:
  // Reads what the child wrote; gives the job the run once it is stored.
  void update(Session& session, view::LessonJob& job);
  void draw(const view::RunPage& page, Session& session, view::LessonJob& job, const Theme& theme);
  // Another step speaks of something else: a run that was chosen for this one no longer stands beside it.
  void leave_step(Session& session);
  bool running() const { return started_ && !started_->job->ended(); }

 private:
  void start(const view::RunPage& page, Session& session, int step);
  // Whether what was started belongs to the step that is shown: another lesson has steps of that number too.
  bool is_of(const view::LessonView& shown) const;

  std::optional<StartedRun> started_;
  int step_ = 0;                 // of the lesson, that it belongs to
  std::filesystem::path scene_;  // the scenario that it trains
  bool told_ = false;
  std::vector<RunId> chosen_;  // for the step that is shown
};

}  // namespace shardlab::gui
