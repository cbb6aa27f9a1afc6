// `shardlab explain WORD`: a word of the glossary with the smallest plan that shows it and the lessons that
// teach it.
#pragma once

#include <string>

#include "engine/cli/console.h"
#include "simulator/lessons/explained_word.h"

namespace shardlab {

// Errors: bad_input for an unknown word, with the nearest; what reading the glossary and predicting its
// scenario say.
Result<lessons::ExplainedWord> explain_word(const std::string& word, const TextStyle& style);

std::string explained_word_text(const lessons::ExplainedWord& explained, const TextStyle& style);
Json explained_word_json(const lessons::ExplainedWord& explained);

}  // namespace shardlab
