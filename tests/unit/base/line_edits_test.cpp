#include "engine/base/text/line_edits.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

using Lines = std::vector<std::string>;

std::string script(const Lines& before, const Lines& after, int most = 100) {
  std::string text;
  for (const LineEdit& edit : line_edits(before, after, most))
    text += (edit.kind == LineEdit::Kind::kept    ? ' '
             : edit.kind == LineEdit::Kind::added ? '+'
                                                  : '-') +
            *edit.line;
  return text;
}

}  // namespace

TEST_CASE("the fewest lines are removed and added") {
  CHECK(script({"a", "b", "c"}, {"a", "c", "d"}) == " a-b c+d");
  CHECK(script({"a"}, {"a"}) == " a");
  CHECK(script({}, {"a", "b"}) == "+a+b");
  CHECK(script({"a", "b"}, {}) == "-a-b");
  CHECK(script({}, {}).empty());
}

TEST_CASE("more edits than are wanted give none") {
  CHECK(script({"a", "b"}, {"c", "d"}, 3).empty());
  CHECK(script({"a", "b"}, {"c", "d"}, 4) == "-a-b+c+d");
}

TEST_CASE("lines near a change are shown") {
  const Lines before = {"1", "2", "3", "4", "5", "6", "7"};
  Lines after = before;
  after[3] = "x";
  const auto shown = near_changes(line_edits(before, after, 10), 1);
  CHECK(shown == std::vector<bool>{false, false, true, true, true, true, false, false});
}

}  // namespace shardlab
