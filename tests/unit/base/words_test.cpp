#include "engine/base/words.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

enum class Flavour : std::uint8_t { sweet, automatic, unnamed };

}  // namespace

template <>
inline constexpr auto k_words<Flavour> = std::to_array<Word<Flavour>>({{Flavour::automatic, "auto"},
                                                                       {Flavour::sweet, "sweet"}});

namespace {

enum class Nameless : std::uint8_t { one };
static_assert(WordEnum<Flavour> && !WordEnum<Nameless> && !WordEnum<int>);

TEST_CASE("a word of the table stands for its value, and the value for its word") {
  CHECK(to_string(Flavour::automatic) == "auto");
  CHECK(parse_word<Flavour>("auto") == Flavour::automatic);
  CHECK(parse_word<Flavour>("sweet") == Flavour::sweet);
}

TEST_CASE("what is not in the table is no word") {
  CHECK(to_string(Flavour::unnamed) == "?");
  for (const char* text : {"", "Sweet", "sweet ", "swee", "automatic", "?"})
    CHECK_FALSE(parse_word<Flavour>(text));
}

TEST_CASE("words are listed in the table's order, or in the order they are asked for") {
  CHECK(all_words<Flavour>() == std::vector<std::string>{"auto", "sweet"});
  CHECK(words_of<Flavour>({Flavour::sweet, Flavour::automatic}) == std::vector<std::string>{"sweet", "auto"});
}

}  // namespace
}  // namespace shardlab
