#include "engine/cli/lessons/explain_word.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/lessons/markdown.h"
#include "engine/lessons/word_list.h"

namespace shardlab {

Result<lessons::ExplainedWord> explain_word(const std::string& word, const TextStyle& style) {
  SHARDLAB_TRY(const lessons::Glossary glossary, lessons::shipped_glossary());
  SHARDLAB_TRY(const lessons::GlossaryWord* const found, glossary.find(word));
  lessons::PredictionCache cache;
  return lessons::explain_word(glossary, *found, cache, style);
}

std::string explained_word_text(const lessons::ExplainedWord& explained, const TextStyle& style) {
  std::string text = lessons::markdown_for_terminal(
      fmt::format("**{}**: {}", fmt::join(explained.names, ", "), explained.meaning), prose_width(style),
      style.colour);
  text += "\n" + explained.picture;
  if (!explained.lessons.empty()) text += "\n";
  for (const lessons::TeachingLesson& lesson : explained.lessons)
    text += fmt::format("lesson {}: {}\n", lesson.name.substr(0, lesson.name.find('-')), lesson.title);
  return text;
}

Json explained_word_json(const lessons::ExplainedWord& explained) {
  Json about = Json::array();
  for (const lessons::TeachingLesson& lesson : explained.lessons)
    about.push_back({{"name", lesson.name}, {"title", lesson.title}});
  return {{"words", explained.names},
          {"meaning", explained.meaning},
          {"picture", explained.picture},
          {"lessons", std::move(about)}};
}

}  // namespace shardlab
