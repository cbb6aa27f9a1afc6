#include "engine/formats/launchers/shell_input.h"

#include <utility>

namespace shardlab {
namespace {

constexpr std::size_t k_most_words = 20'000;
constexpr std::size_t k_longest_word = 64 * 1024;
constexpr std::size_t k_most_bytes = std::size_t{16} << 20;  // of all words

}  // namespace

bool ShellAmount::has_too_many_words() const {
  return words > k_most_words;
}

void append(ShellInput& input, ShellWord& word, std::string_view more) {
  ShellAmount& amount = input.amount;
  if (word.text.size() + more.size() > k_longest_word || amount.bytes + more.size() > k_most_bytes) {
    amount.is_too_long = true;
    return;
  }
  amount.bytes += more.size();
  word.text += more;
}

void append_next(ShellInput& input, ShellWord& word) {
  const char next = input.cursor.take();
  append(input, word, {&next, 1});
}

tl::unexpected<Error> too_many_words(Place where) {
  return bad_input(std::move(where), "too many words for a launch script");
}

tl::unexpected<Error> word_too_long(Place where) {
  return bad_input(std::move(where), "is longer than any word of a launch script");
}

}  // namespace shardlab
