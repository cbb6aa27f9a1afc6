// The course with what is done of it, as text, JSON and CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/cli/console.h"
#include "engine/lessons/course.h"
#include "engine/lessons/lesson.h"
#include "engine/store/lesson_record.h"

namespace shardlab {

struct ListedLesson {
  std::string name;
  lessons::Lesson lesson;
};

struct LessonOverview {
  lessons::Course course;
  std::vector<ListedLesson> lessons;  // in the order of the course
  std::vector<LessonProgress> progress;
  std::vector<LessonAnswer> answers;
};

std::string overview_text(const LessonOverview& overview, const TextStyle& style);
Json overview_json(const LessonOverview& overview);

// Answers one a line, for a teacher: when, lesson, step, answer, right.
std::string answers_csv(const std::vector<LessonAnswer>& answers);

}  // namespace shardlab
