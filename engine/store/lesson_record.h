// How far somebody came in the lessons, and what was answered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlab {

struct LessonAnswer {
  std::int64_t created = 0;  // seconds since 1970-01-01 UTC; 0 when saved: now
  std::string lesson;        // its name
  int step = 0;              // from 1
  std::string answer;        // as it was typed
  bool right = false;

  friend bool operator==(const LessonAnswer&, const LessonAnswer&) = default;
};

struct LessonProgress {
  std::string lesson;
  int step = 0;               // the last that was shown, from 1
  int steps = 0;              // that the lesson had then
  std::int64_t finished = 0;  // likewise; 0: not yet

  friend bool operator==(const LessonProgress&, const LessonProgress&) = default;
};

// That of a lesson; null where there is none.
const LessonProgress* progress_in(const std::vector<LessonProgress>& progress, const std::string& lesson);

// Where a lesson of so many steps goes on; 1 where it was not begun, was finished, or had other steps then.
int step_to_go_on_with(const std::vector<LessonProgress>& progress, const std::string& lesson, int steps);

// Questions that were answered, and those whose first answer was right.
struct FirstAnswers {
  int right = 0, all = 0;
};
FirstAnswers first_answers(const std::vector<LessonAnswer>& answers, const std::string& lesson);

// "at 3 of 9", "done, 2 of 3 right", of all questions of the lesson: one whose answer was told is not right.
// Empty where nothing was done.
std::string progress_words(const LessonProgress* progress, const FirstAnswers& answers, int questions);

}  // namespace shardlab
