#include "simulator/search/result_file.h"

#include "tests/unit/search/small_question.h"

namespace shardlab {
namespace {

Outcome made_up() {
  Outcome outcome;
  PredictedFigures& figures = outcome.figures;
  figures.first_step = {2};
  figures.step_time = {1};
  figures.tokens = 3;
  figures.tokens_per_second = 0.1;
  figures.mfu = 0.3;
  figures.peak_allocated = {5};
  figures.peak_device = Bytes{6};
  figures.device_high = Bytes{7};
  figures.limit = Bytes{8};
  figures.fits = Fit::unsure;
  figures.fit_probability = 1.0 / 3;
  figures.retries = 9;
  figures.fit_reason = "says \"why\"";
  figures.peak_label = "there";
  figures.metrics = {{"mfu", 0.3}};
  return outcome;
}

}  // namespace

TEST_CASE("an outcome comes back from its line as it was") {
  Outcome refused;
  refused.refused = "not possible";
  for (const Outcome& each : {made_up(), refused, Outcome{}}) {
    const auto kept = parse_outcome(outcome_text("key", each));
    REQUIRE_OK(kept);
    CHECK(kept->key == "key");
    CHECK(kept->outcome == each);
  }
  for (const char* text : {"", "{", "[]", "{\"key\": 3}", "{\"key\": \"a\", \"figures\": {}}"})
    CHECK(!parse_outcome(text));
}

TEST_CASE("a file that was cut short loses its last line and nothing else") {
  const test::SearchFolder folder;
  const std::string whole = outcome_text("one", made_up()) + "\n" + outcome_text("two", made_up());
  const auto file = folder.write("r", whole.substr(0, whole.size() - 10));
  {
    ResultFile kept;
    REQUIRE_OK(kept.open(file));
    CHECK(kept.find("one") == made_up());
    CHECK(!kept.find("two"));
    REQUIRE_OK(kept.add("three", made_up()));
  }
  ResultFile again;
  REQUIRE_OK(again.open(file));
  CHECK(again.find("one"));
  CHECK(again.find("three"));
}

TEST_CASE("what somebody else wrote is left as it is, and what was cut short anywhere is not taken for it") {
  const test::SearchFolder folder;
  for (const char* const text : {"notes\n", "{\"a\": 1}\n", "[]", "scenario: s.yaml\n", "\x1b[2J"}) {
    INFO(text);
    ResultFile kept;
    const Status opened = kept.open(folder.write("theirs", text));
    REQUIRE_FALSE(opened);
    CHECK_THAT(opened.error().what, test::contains_text("holds no results of a search"));
  }
  Outcome refused;
  refused.refused = "not possible";
  for (const std::string& line : {outcome_text("one", made_up()), outcome_text("one", refused)}) {
    for (std::size_t length = 0; length <= line.size(); ++length) {
      ResultFile kept;
      REQUIRE_OK(kept.open(folder.write("ours", line.substr(0, length))));
      REQUIRE_OK(kept.open(folder.write("ours", line.substr(0, length) + "\n" + line + "\n")));
    }
  }
}

TEST_CASE("a file that is larger than results are, or has a line that no result has, is refused") {
  const test::SearchFolder folder;
  const auto complaint = [](const std::filesystem::path& file) {
    ResultFile kept;
    const Status opened = kept.open(file);
    return opened ? "opened" : opened.error().what;
  };
  const auto file = folder.write("r", outcome_text("one", made_up()) + "\n" + std::string(2 << 20, 'x'));
  CHECK_THAT(complaint(file), test::contains_text("is a line of more than 1.00 MiB"));
  std::filesystem::resize_file(file, std::uintmax_t{1} << 40);  // without blocks behind it
  CHECK_THAT(complaint(file), test::contains_text("is larger than 1.00 GiB, not a file of results"));
  CHECK_THAT(complaint("/proc/self/mem"), test::contains_text("cannot be read"));
}

TEST_CASE("a file that cannot be written is told with what to do") {
  const test::SearchFolder folder;
  ResultFile kept;
  const auto status = kept.open(folder.file("none/r"));
  REQUIRE(!status);
  CHECK_THAT(to_string(status.error()), test::contains_text("--no-store"));
}

}  // namespace shardlab
