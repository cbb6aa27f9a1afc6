// A lesson on its way to the terminal: read, with its scenarios at hand.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/lessons/lesson.h"
#include "simulator/lessons/lesson_subjects.h"

namespace shardlab {

// Owns what the subjects refer to, so that it may be moved.
struct OpenLesson {
  std::unique_ptr<const lessons::Lesson> lesson;
  std::unique_ptr<lessons::LessonSubjects> subjects;
};

// Errors: read_lesson()'s. `cache` must outlive it.
Result<OpenLesson> open_lesson(const std::filesystem::path& folder, lessons::PredictionCache& cache);

}  // namespace shardlab
