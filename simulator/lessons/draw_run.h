// A real run of a lesson beside what was predicted.
#pragma once

#include <string>

#include "simulator/lessons/lesson_subjects.h"

namespace shardlab::lessons {

// A few lines of text with their ends, after the subjects were given the run of the step.
std::string figures_of_run(const RunStep& run, const LessonSubjects& subjects);

}  // namespace shardlab::lessons
