// The course as a list, with what is done of each lesson; a click opens one.
#pragma once

#include <string>

#include "gui/view_model/lessons/lesson_job.h"
#include "gui/widgets/theme.h"

namespace shardlab::gui {

class CourseList {
 public:
  // What comes next, and a field for a lesson of one's own: above the course, which may be longer than the
  // panel.
  void draw_begin(view::LessonJob& job, const Theme& theme);
  // The lessons part by part, or why there are none.
  void draw_course(view::LessonJob& job, const Theme& theme) const;

 private:
  void draw_other(view::LessonJob& job, const Theme& theme);

  std::string folder_;
};

}  // namespace shardlab::gui
