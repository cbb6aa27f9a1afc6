#include "simulator/lessons/explained_word.h"

#include <algorithm>

#include "engine/lessons/course.h"
#include "engine/lessons/read_lesson.h"
#include "simulator/lessons/draw_look.h"

namespace shardlab::lessons {
namespace {

bool teaches(const Lesson& lesson, const GlossaryWord& word) {
  return std::any_of(word.names.begin(), word.names.end(), [&](const std::string& name) {
    return std::find(lesson.teaches.begin(), lesson.teaches.end(), name) != lesson.teaches.end();
  });
}

Result<std::vector<TeachingLesson>> lessons_about(const GlossaryWord& word) {
  std::vector<TeachingLesson> found;
  SHARDLAB_TRY(const Course course, shipped_course());
  for (const std::string& name : course.lessons()) {
    SHARDLAB_TRY(const Lesson lesson, read_lesson(course.folder / name));
    if (teaches(lesson, word)) found.push_back({lesson.name, lesson.title});
  }
  return found;
}

}  // namespace

Result<ExplainedWord> explain_word(const Glossary& glossary, const GlossaryWord& word, PredictionCache& cache,
                                   const TextStyle& style) {
  ExplainedWord explained{word.names, word.meaning, {}, {}};
  const LessonSubjects subjects(glossary.frame, cache);
  SHARDLAB_TRY(explained.picture, look_text(word.look, subjects, style));
  SHARDLAB_TRY(explained.lessons, lessons_about(word));
  return explained;
}

}  // namespace shardlab::lessons
