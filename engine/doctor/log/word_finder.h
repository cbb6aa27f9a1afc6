// Which of many words stand in a text, in one pass over it.
//
// An automaton of Aho and Corasick (1975): the time depends on the length of the text alone, whatever the
// text and however many words, so that a hostile log costs no more than another. Upper and lower case of
// ASCII are the same. Immutable after construction; safe to share between threads.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlab {

class WordFinder {
 public:
  // Words must not be empty; what they find is their index here.
  explicit WordFinder(const std::vector<std::string>& words);

  // The words of which at least one ends in `text`, each at most once, into `found` (cleared before).
  // `marks` is scratch space that the caller keeps between calls.
  void find(std::string_view text, std::vector<std::uint32_t>& found, std::vector<std::uint8_t>& marks) const;

 private:
  struct Node {
    std::vector<std::uint32_t> words;  // that end here, those of shorter suffixes included
  };

  std::uint32_t step(std::uint32_t state, std::uint8_t symbol) const {
    return next_[state * symbols_ + symbol];
  }

  std::array<std::uint8_t, 256> symbol_of_{};  // 0: a byte that is in no word
  std::uint32_t symbols_ = 1;
  std::vector<std::uint32_t> next_;  // state x symbol
  std::vector<Node> nodes_;
  std::vector<std::uint8_t> ends_;  // whether a state has words
  std::size_t word_count_ = 0;
};

}  // namespace shardlab
