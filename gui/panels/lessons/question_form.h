// A question of a lesson: its choices as buttons, a field for what is typed, and what was said to it.
#pragma once

#include <string>
#include <vector>

#include "gui/session/session.h"
#include "gui/view_model/lessons/lesson_job.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

class QuestionForm {
 public:
  // Asks the job for what the answers are worth.
  void draw(const view::QuestionPage& question, view::LessonJob& job, const Session& session,
            const Theme& theme);
  void clear() { typed_.clear(); }

 private:
  void draw_choices(const view::QuestionPage& question, bool open, view::LessonJob& job, const Theme& theme);
  void draw_field(const view::QuestionPage& question, view::LessonJob& job, const Session& session,
                  const Theme& theme);

  std::string typed_;
};

}  // namespace shardlab::gui
