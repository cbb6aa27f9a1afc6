// Words: the one table of names of an enumeration whose values are written as words.
//
// A table is a specialisation beside the enumeration, in the order in which the words are listed to people:
//
//   enum class Direction : std::uint8_t { up, down };
//   template <>
//   inline constexpr auto k_words<Direction> =
//       std::to_array<Word<Direction>>({{Direction::up, "up"}, {Direction::down, "down"}});
//
// Reading, writing, the lists in messages ("did you mean", "known: ...") and the generated reference all come
// from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace shardlab {

template <typename E>
struct Word {
  E value;
  std::string_view text;
};

template <typename E>
inline constexpr std::array<Word<E>, 0> k_words{};

// An enumeration that has such a table.
template <typename E>
concept WordEnum = std::is_enum_v<E> &&(k_words<E>.size() > 0);

// "?" for what is no value of the enumeration.
template <WordEnum E>
constexpr std::string_view to_string(E value) {
  for (const Word<E>& word : k_words<E>) {
    if (word.value == value) return word.text;
  }
  return "?";
}

// Nothing for a word that is not in the table; words are compared exactly.
template <WordEnum E>
constexpr std::optional<E> parse_word(std::string_view text) {
  for (const Word<E>& word : k_words<E>) {
    if (word.text == text) return word.value;
  }
  return std::nullopt;
}

// The words of these values, all of them by default, for messages and references.
template <WordEnum E>
std::vector<std::string> words_of(const std::vector<E>& values) {
  std::vector<std::string> texts;
  for (const E value : values) texts.emplace_back(to_string(value));
  return texts;
}

template <WordEnum E>
std::vector<std::string> all_words() {
  std::vector<std::string> texts;
  for (const Word<E>& word : k_words<E>) texts.emplace_back(word.text);
  return texts;
}

}  // namespace shardlab
