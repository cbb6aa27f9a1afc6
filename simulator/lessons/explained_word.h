// A word of the glossary with the smallest plan that shows it and the lessons that teach it.
#pragma once

#include <string>
#include <vector>

#include "engine/lessons/word_list.h"
#include "engine/report/terminal.h"
#include "simulator/lessons/lesson_subjects.h"

namespace shardlab::lessons {

struct TeachingLesson {
  std::string name;  // 03-three-cuts
  std::string title;
};

struct ExplainedWord {
  std::vector<std::string> names;
  std::string meaning;
  std::string picture;  // text with its line ends
  std::vector<TeachingLesson> lessons;
};

// Errors: what predicting its scenario and reading the lessons that ship with the program say.
Result<ExplainedWord> explain_word(const Glossary& glossary, const GlossaryWord& word, PredictionCache& cache,
                                   const TextStyle& style);

}  // namespace shardlab::lessons
