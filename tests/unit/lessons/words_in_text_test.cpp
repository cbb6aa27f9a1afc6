// Words of the glossary in running text: the longest, in any spelling, and no part of a setting's name.
#include "engine/lessons/words_in_text.h"

#include "tests/catch.h"

namespace shardlab::lessons {
namespace {

Glossary small_glossary() {
  Glossary glossary;
  GlossarySection& section = glossary.sections.emplace_back();
  section.words = {{.names = {"rank"}},
                   {.names = {"shard"}},
                   {.names = {"gather", "all-gather"}},
                   {.names = {"all-reduce"}},
                   {.names = {"reduce-scatter"}},
                   {.names = {"hybrid sharding"}, .also = {"HSDP"}},
                   {.names = {"setup", "first", "steady"}, .ordinary = {"first"}},
                   {.names = {"ZeRO"}, .also = {"zero3"}, .ordinary = {"ZeRO"}}};
  return glossary;
}

// "rank=rank|all-gather=gather": what stands there, and the word it is.
std::string found_in(const std::string& text, bool marked = false) {
  static const Glossary glossary = small_glossary();
  const WordFinder finder(glossary);
  std::string found;
  for (const WordInText& each : finder.find(text, marked))
    found += (found.empty() ? "" : "|") + text.substr(each.begin, each.size) + "=" + each.word->names.front();
  return found;
}

}  // namespace

TEST_CASE("a word is found in any spelling, with a plural and at the end of a sentence") {
  CHECK(found_in("Every rank keeps a shard.") == "rank=rank|shard=shard");
  CHECK(found_in("Two Ranks, two shards") == "Ranks=rank|shards=shard");
  CHECK(found_in("an AllGather, an all gather, all-gathers") ==
        "AllGather=gather|all gather=gather|all-gathers=gather");
  CHECK(found_in("rank/shard (rank)") == "rank=rank|shard=shard|rank=rank");
}

TEST_CASE("the longest word wins, also over the end of a line") {
  CHECK(found_in("hybrid sharding") == "hybrid sharding=hybrid sharding");
  CHECK(found_in("with hybrid\nsharding") == "hybrid\nsharding=hybrid sharding");
  CHECK(found_in("hybrid, sharding").empty());
  CHECK(found_in("a four-rank job") == "rank=rank");
  CHECK(found_in("all reduce-scatters") == "reduce-scatters=reduce-scatter");
  CHECK(found_in("they all reduce it") == "all reduce=all-reduce");
}

TEST_CASE("a part of another word or of a setting's name is none") {
  CHECK(found_in("franks ranking rank_zero").empty());
  CHECK(found_in("cluster.rank is a rank.") == "rank=rank");
  CHECK(found_in("cluster.rank").empty());
  CHECK(found_in("").empty());
  CHECK(found_in(" - . \xE2\x80\x94 ").empty());
}

TEST_CASE("words of everyday language are terms where they are marked, or spelt with their capitals") {
  CHECK(found_in("the first of zero bytes").empty());
  CHECK(found_in("first", true) == "first=setup");
  CHECK(found_in("zero", true) == "zero=ZeRO");
  CHECK(found_in("ZeRO, zero3") == "ZeRO=ZeRO|zero3=ZeRO");
  CHECK(found_in("steady") == "steady=setup");
}

}  // namespace shardlab::lessons
