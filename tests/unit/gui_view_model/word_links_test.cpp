// Words of the glossary opened from texts of the window: found, explained on a thread, one after the other.
#include <thread>

#include "gui/view_model/words/word_links.h"
#include "tests/catch.h"

namespace shardlab::view {
namespace {

const lessons::ExplainedWord& explained(WordLinks& words) {
  for (int i = 0; i < 3000 && words.card() != nullptr && !words.card()->explained; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  REQUIRE(words.card() != nullptr);
  REQUIRE(words.card()->explained);
  REQUIRE_OK(*words.card()->explained);
  return **words.card()->explained;
}

}  // namespace

TEST_CASE("a word in a text opens its meaning at once, and the plan that shows it soon") {
  WordLinks words;
  CHECK(words.card() == nullptr);
  const auto found = words.find("FSDP gathers the next unit before an all-gather is waited for");
  REQUIRE(found.size() >= 2);
  words.open(*found.back().word);
  REQUIRE(words.card() != nullptr);
  CHECK(words.card()->word->names.back() == "all-gather");
  CHECK_FALSE(words.card()->meaning.empty());
  CHECK(explained(words).picture.find("AllGather") != std::string::npos);
  CHECK_FALSE(words.busy());
}

TEST_CASE("a word leads to another, and back") {
  WordLinks words;
  REQUIRE_OK(words.open("peak"));
  CHECK_FALSE(words.can_go_back());
  CHECK_FALSE(explained(words).lessons.empty());
  REQUIRE_OK(words.open("hsdp"));
  CHECK(words.card()->word->names.front() == "hybrid sharding");
  CHECK(words.can_go_back());
  words.go_back();
  CHECK(words.card()->word->names.front() == "peak");
  CHECK_FALSE(explained(words).picture.empty());
  words.close();
  CHECK(words.card() == nullptr);
  CHECK_FALSE(words.can_go_back());
}

TEST_CASE("what is no word is told with the nearest, and the open one stays") {
  WordLinks words;
  REQUIRE_OK(words.open("rank"));
  const std::uint64_t opened = words.opened();
  const Status wrong = words.open("rnk");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().hint.find("rank") != std::string::npos);
  CHECK(words.card()->word->names.front() == "rank");
  CHECK(words.opened() == opened);
}

TEST_CASE("every word of the glossary has something that shows it") {
  WordLinks words;
  REQUIRE_OK(words.glossary());
  for (const lessons::GlossarySection& section : words.glossary()->sections) {
    for (const lessons::GlossaryWord& word : section.words) {
      INFO(word.names.front());
      words.close();
      words.open(word);
      CHECK_FALSE(explained(words).picture.empty());
    }
  }
}

}  // namespace shardlab::view
