#include "engine/base/result.h"

#include "engine/base/error_json.h"
#include "tests/catch.h"

namespace shardlab {
namespace {

Error in_setting() {
  return {ErrorKind::bad_input, named(in_file("dir:7/s.yaml", 12, 3), "train"), "unknown key 'micro_btach'",
          "did you mean 'micro_batch'?"};
}

TEST_CASE("the text of an error: place, thing, what, hint, each only when known") {
  CHECK(to_string(in_setting()) ==
        "dir:7/s.yaml:12:3: train: unknown key 'micro_btach' (did you mean 'micro_batch'?)");
  CHECK(where_text(in_setting()) == "dir:7/s.yaml:12:3");
  CHECK(what_text(in_setting()) == "train: unknown key 'micro_btach'");
  CHECK(to_string(Error{ErrorKind::bad_input, "--step", "is no step", ""}) == "--step: is no step");
  CHECK(to_string(Error{ErrorKind::bad_input, in_file("p.txt", 4), "is odd", ""}) == "p.txt:4: is odd");
  CHECK(to_string(Error{ErrorKind::bad_input, {}, "is odd", ""}) == "is odd");
  CHECK(where_text(Error{ErrorKind::run_failed, on_rank(3, "step 2, 7 Free"), "x", ""}) ==
        "rank 3, step 2, 7 Free");
  CHECK(to_string(named(in_file("s.yaml", 1, 2), "model.config")) == "s.yaml:1:2: model.config");
}

TEST_CASE("several problems are a line each, the first ten") {
  Error all;
  all.kind = ErrorKind::bad_input;
  all.parts.assign(2, in_setting());
  CHECK(message_text(all) == to_string(in_setting()) + "\n" + to_string(in_setting()));
  all.parts.assign(13, Error{ErrorKind::bad_input, "a", "b", ""});
  CHECK(message_text(all).ends_with("a: b\na: b\nand 3 more"));
}

TEST_CASE("a text of somebody else's is shown as far as anybody reads") {
  const std::string name(1U << 20U, 'n'), what = std::string(1U << 20U, 'w') + "\xc3\xa4";
  const Error error{ErrorKind::bad_input, named(in_file("a.csv", 1), name), what, std::string(9000, 'h')};
  const std::string text = to_string(error);
  CHECK(text.size() < 10'000);
  CHECK_THAT(text, test::contains_text("nn... (1048") && test::contains_text("ww... (1044") &&
                       test::contains_text(" bytes more)") && test::contains_text("hh... ("));
  CHECK(to_string(parse_error_json(error_json(error))) == text);
  // Up to there nothing is cut, and nothing says so.
  const Error long_list{ErrorKind::bad_input, "key", std::string(4000, 'x'), ""};
  CHECK(to_string(long_list) == "key: " + std::string(4000, 'x'));
}

TEST_CASE("JSON carries an error from one program to another as it is") {
  Error all;
  all.kind = ErrorKind::bad_input;
  all.parts = {
      in_setting(), Error{ErrorKind::not_possible, "--db", "no file", "make one", ErrorCode::no_database},
      Error{ErrorKind::run_failed, on_rank(0, "setup, 1 Initialize"), "x: y", "", ErrorCode::failed_in_step},
      Error{ErrorKind::internal, in_file("a.db"), "two\nlines \"quoted\"", ""}};
  for (const Error& each : all.parts) CHECK(parse_error_json(error_json(each)) == each);
  CHECK(parse_error_json(error_json(all)) == all);
  CHECK(error_json(all).find('\n') == std::string::npos);
}

TEST_CASE("what is no error of ours reads as far as it goes") {
  CHECK(parse_error_json("no JSON") == Error{});
  CHECK(parse_error_json("[1]") == Error{});
  const Error old =
      parse_error_json(R"({"kind": "run_failed", "where": "run", "what": "it fell", "line": "x"})");
  CHECK(old == Error{ErrorKind::run_failed, "run", "it fell", ""});
  CHECK(parse_error_json(R"({"file": "a-long-name", "name": "longer than the words", "what": "so"})").what ==
        "so");
}

}  // namespace
}  // namespace shardlab
