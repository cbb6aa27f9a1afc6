// The course as the window lists it: its parts, their lessons, and what is done of each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/lessons/course.h"
#include "engine/lessons/lesson.h"
#include "engine/store/lesson_record.h"

namespace shardlab::view {

struct ShelfLesson {
  std::string name;    // of its folder
  std::string number;  // "03"
  std::string title;
  std::filesystem::path folder;
  int minutes = 0;
  std::string state;  // "at 3 of 9", "done, 2 of 3 right"; empty: nothing yet
  bool finished = false;
};

struct ShelfPart {
  std::string title, about;
  int minutes = 0;  // of all its lessons
  std::vector<ShelfLesson> lessons;
  std::vector<lessons::ComingLesson> coming;
};

struct LessonShelf {
  std::vector<ShelfPart> parts;

  // The first that is not finished; null where all are.
  const ShelfLesson* next() const;
  // The one behind the lesson of that folder, whatever is done of it; null behind the last, and of no lesson
  // of the course.
  const ShelfLesson* after(const std::filesystem::path& folder) const;
};

// `read` are the lessons of the course, in its order.
LessonShelf make_shelf(const lessons::Course& course, const std::vector<lessons::Lesson>& read,
                       const std::vector<LessonProgress>& progress, const std::vector<LessonAnswer>& answers);

}  // namespace shardlab::view
