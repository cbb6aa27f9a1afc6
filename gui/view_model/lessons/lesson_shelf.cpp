#include "gui/view_model/lessons/lesson_shelf.h"

namespace shardlab::view {

const ShelfLesson* LessonShelf::next() const {
  for (const ShelfPart& part : parts) {
    for (const ShelfLesson& lesson : part.lessons) {
      if (!lesson.finished) return &lesson;
    }
  }
  return nullptr;
}

const ShelfLesson* LessonShelf::after(const std::filesystem::path& folder) const {
  bool passed = false;
  for (const ShelfPart& part : parts) {
    for (const ShelfLesson& lesson : part.lessons) {
      if (passed) return &lesson;
      passed = lesson.folder == folder;
    }
  }
  return nullptr;
}

LessonShelf make_shelf(const lessons::Course& course, const std::vector<lessons::Lesson>& read,
                       const std::vector<LessonProgress>& progress,
                       const std::vector<LessonAnswer>& answers) {
  LessonShelf shelf;
  auto lesson = read.begin();
  for (const lessons::CoursePart& part : course.parts) {
    ShelfPart& shown = shelf.parts.emplace_back();
    shown.title = part.title;
    shown.about = part.about;
    shown.coming = part.coming;
    for (std::size_t i = 0; i < part.lessons.size() && lesson != read.end(); ++i, ++lesson) {
      const LessonProgress* const reached = progress_in(progress, lesson->name);
      shown.minutes += lesson->minutes;
      shown.lessons.push_back(
          {.name = lesson->name,
           .number = lesson->name.substr(0, lesson->name.find('-')),
           .title = lesson->title,
           .folder = lesson->folder,
           .minutes = lesson->minutes,
           .state = progress_words(reached, first_answers(answers, lesson->name), lesson->question_count()),
           .finished = reached != nullptr && reached->finished != 0});
    }
  }
  return shelf;
}

}  // namespace shardlab::view
