// Lessons as one page of HTML that needs nothing else: texts, questions that answer, pictures as SVG.
#pragma once

#include <string>
#include <vector>

#include "simulator/lessons/lesson_subjects.h"

namespace shardlab::lessons {

// `subjects` one a lesson, in the order of the page. Errors: whatever the lessons' expressions and pictures
// say.
Result<std::string> lesson_page(const std::vector<const LessonSubjects*>& subjects, const std::string& title);

}  // namespace shardlab::lessons
