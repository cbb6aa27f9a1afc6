#include "engine/lessons/typed_settings.h"

#include "tests/catch.h"

namespace shardlab::lessons {
namespace {

using Settings = std::vector<std::string>;

TEST_CASE("typed settings are apart at blanks that no value holds") {
  CHECK(typed_settings("a=1 b=2") == Settings{"a=1", "b=2"});
  CHECK(typed_settings(" \t a=1\n  b=2 ") == Settings{"a=1", "b=2"});
  CHECK(typed_settings("model.loss={kind: chunked, chunks: 8} b=[1, 2]") ==
        Settings{"model.loss={kind: chunked, chunks: 8}", "b=[1, 2]"});
  CHECK(typed_settings("name='a b' c=\"} d\" e=1") == Settings{"name='a b'", "c=\"} d\"", "e=1"});
  CHECK(typed_settings("").empty());
}

TEST_CASE("what is not closed is one setting, and what closes nothing changes nothing") {
  CHECK(typed_settings("a={b: 1 c=2") == Settings{"a={b: 1 c=2"});
  CHECK(typed_settings("a=} b=2") == Settings{"a=}", "b=2"});
}

}  // namespace
}  // namespace shardlab::lessons
