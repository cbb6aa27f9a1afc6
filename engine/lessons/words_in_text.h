// Words of the glossary where they stand in a text, so that each can open its definition.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/lessons/word_list.h"

namespace shardlab::lessons {

struct WordInText {
  std::size_t begin = 0, size = 0;  // bytes of the text
  const GlossaryWord* word = nullptr;
};

// Copies nothing: the glossary must outlive it.
class WordFinder {
 public:
  explicit WordFinder(const Glossary& glossary);

  // In the order of the text, the longest where several begin at one place: "hybrid sharding" is one word.
  // Upper and lower case, hyphens and a plural do not matter; a part of a longer name, as of a setting, is
  // none. `marked`: the text is strong or code, where words of everyday language are meant as terms.
  std::vector<WordInText> find(std::string_view text, bool marked = false) const;

 private:
  struct Name {
    std::string spelt;
    const GlossaryWord* word = nullptr;
    bool is_ordinary = false;
  };
  // What a stretch of a text names; null: nothing.
  const GlossaryWord* word_of(std::string_view text, bool marked) const;
  const Name* named(const std::string& plain) const;

  std::map<std::string, Name> names_;  // as names are compared
};

}  // namespace shardlab::lessons
