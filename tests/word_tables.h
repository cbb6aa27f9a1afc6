// Checks of tables of words (engine/base/words.h).
#pragma once

#include <set>
#include <string_view>

#include "engine/base/words.h"
#include "tests/catch.h"

namespace shardlab::test {

// The table names every value up to its highest once, and has no word twice.
template <WordEnum E>
void check_table() {
  std::set<std::string_view> texts;
  std::set<E> values;
  for (const Word<E>& word : k_words<E>) {
    texts.insert(word.text);
    values.insert(word.value);
    CHECK(parse_word<E>(to_string(word.value)) == word.value);
  }
  CHECK(texts.size() == k_words<E>.size());
  CHECK(values.size() == k_words<E>.size());
  // Enumerators count from 0.
  CHECK(static_cast<std::size_t>(*values.rbegin()) + 1 == values.size());
}

template <WordEnum... E>
void check_tables() {
  (check_table<E>(), ...);
}

}  // namespace shardlab::test
