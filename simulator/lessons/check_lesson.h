// Whether everything in a lesson still holds: every expression, question, picture target and scenario.
#pragma once

#include <vector>

#include "simulator/lessons/lesson_subjects.h"

namespace shardlab::lessons {

struct CheckedLesson {
  int expressions = 0;
  int questions = 0;
  int pictures = 0;
  int runs = 0;
  std::vector<Error> problems;  // with their places; empty: all is well
};

// Predictions alone. What only a real run can tell (the `holds` of a run, its `after`) is read but not asked.
CheckedLesson check_lesson(const LessonSubjects& subjects);

// After the scenario of a run was run and given to the subjects: whether it holds what the lesson says of it,
// and says what comes after. Errors with their places.
std::vector<Error> check_run(const RunStep& run, const LessonSubjects& subjects);

// Whether the scenario of a run can be run on the processors of two ranks at most. Errors: what speaks
// against it.
Status check_can_run(const RunStep& run, const LessonSubjects& subjects);

}  // namespace shardlab::lessons
