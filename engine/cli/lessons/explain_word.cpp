#include "engine/cli/lessons/explain_word.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/lessons/course.h"
#include "engine/lessons/markdown.h"
#include "engine/lessons/read_lesson.h"
#include "engine/lessons/word_list.h"
#include "simulator/lessons/draw_look.h"

namespace shardlab {
namespace {

bool teaches(const lessons::Lesson& lesson, const lessons::GlossaryWord& word) {
  return std::any_of(word.names.begin(), word.names.end(), [&](const std::string& name) {
    return std::find(lesson.teaches.begin(), lesson.teaches.end(), name) != lesson.teaches.end();
  });
}

Result<std::vector<TeachingLesson>> lessons_about(const lessons::GlossaryWord& word) {
  std::vector<TeachingLesson> found;
  SHARDLAB_TRY(const lessons::Course course, lessons::shipped_course());
  for (const std::string& name : course.lessons()) {
    SHARDLAB_TRY(const lessons::Lesson lesson, lessons::read_lesson(course.folder / name));
    if (teaches(lesson, word)) found.push_back({lesson.name, lesson.title});
  }
  return found;
}

}  // namespace

Result<ExplainedWord> explain_word(const std::string& word, const TextStyle& style) {
  SHARDLAB_TRY(const lessons::Glossary glossary, lessons::shipped_glossary());
  SHARDLAB_TRY(const lessons::GlossaryWord* const found, glossary.find(word));
  ExplainedWord explained{found->names, found->meaning, {}, {}};
  lessons::PredictionCache cache;
  const lessons::LessonSubjects subjects(glossary.frame, cache);
  SHARDLAB_TRY(explained.picture, lessons::look_text(found->look, subjects, style));
  SHARDLAB_TRY(explained.lessons, lessons_about(*found));
  return explained;
}

std::string explained_word_text(const ExplainedWord& explained, const TextStyle& style) {
  std::string text = lessons::markdown_for_terminal(
      fmt::format("**{}**: {}", fmt::join(explained.names, ", "), explained.meaning), prose_width(style),
      style.colour);
  text += "\n" + explained.picture;
  if (!explained.lessons.empty()) text += "\n";
  for (const TeachingLesson& lesson : explained.lessons)
    text += fmt::format("lesson {}: {}\n", lesson.name.substr(0, lesson.name.find('-')), lesson.title);
  return text;
}

Json explained_word_json(const ExplainedWord& explained) {
  Json about = Json::array();
  for (const TeachingLesson& lesson : explained.lessons)
    about.push_back({{"name", lesson.name}, {"title", lesson.title}});
  return {{"words", explained.names},
          {"meaning", explained.meaning},
          {"picture", explained.picture},
          {"lessons", std::move(about)}};
}

}  // namespace shardlab
