// `shardlab explain WORD`: a word of the glossary with the smallest plan that shows it and the lessons that
// teach it.
#pragma once

#include <string>
#include <vector>

#include "engine/cli/console.h"

namespace shardlab {

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

// Errors: bad_input for an unknown word, with the nearest; what reading the glossary and predicting its
// scenario say.
Result<ExplainedWord> explain_word(const std::string& word, const TextStyle& style);

std::string explained_word_text(const ExplainedWord& explained, const TextStyle& style);
Json explained_word_json(const ExplainedWord& explained);

}  // namespace shardlab
