#include "engine/cli/lessons/open_lesson.h"

#include "engine/lessons/read_lesson.h"

namespace shardlab {

Result<OpenLesson> open_lesson(const std::filesystem::path& folder, lessons::PredictionCache& cache) {
  SHARDLAB_TRY(lessons::Lesson read, lessons::read_lesson(folder));
  OpenLesson open;
  open.lesson = std::make_unique<const lessons::Lesson>(std::move(read));
  open.subjects = std::make_unique<lessons::LessonSubjects>(*open.lesson, cache);
  return open;
}

}  // namespace shardlab
