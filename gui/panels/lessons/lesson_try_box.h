// Settings that a learner tries on a scenario, with their effect.
#pragma once

#include <string>

#include "gui/panels/lessons/lesson_stage.h"
#include "gui/session/session.h"
#include "gui/view_model/lessons/lesson_job.h"

namespace shardlab::gui {

class LessonTryBox {
 public:
  // What the lesson proposes stands in the field.
  void propose(const view::TryPage& page);
  void draw(const view::TryPage& page, view::LessonJob& job, LessonStage& stage, Session& session,
            const Theme& theme);

 private:
  void try_now(const view::TryPage& page, view::LessonJob& job, LessonStage& stage, Session& session);

  std::string typed_;
};

}  // namespace shardlab::gui
