// The course: the lessons in their order, part by part, and those that wait for something.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace shardlab::lessons {

struct ComingLesson {
  std::string title;
  std::string waits;  // for what
};

struct CoursePart {
  std::string title;
  std::string about;
  std::vector<std::string> lessons;  // names of folders beside the course's file
  std::vector<ComingLesson> coming;
};

struct Course {
  std::filesystem::path folder;
  std::vector<CoursePart> parts;

  // Names in their order.
  std::vector<std::string> lessons() const;
};

// Reads `folder`/course.yaml. Errors: bad_input, all mistakes together, a folder that is named and missing
// among them.
Result<Course> read_course(const std::filesystem::path& folder);

// The course that ships with the program; not_possible where it is not installed.
Result<Course> shipped_course();

// The folder that somebody means: a folder with a lesson.yaml, a name of the course, or the number or the
// words in it (3, 03, cuts). bad_input for what is none, with the nearest.
Result<std::filesystem::path> find_lesson(const Course& course, const std::string& text);

}  // namespace shardlab::lessons
