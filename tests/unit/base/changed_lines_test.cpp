#include "engine/base/changed_lines.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

std::string piece(std::string_view before, std::string_view after) {
  const ChangedLines changed = changed_lines(before, after);
  return std::to_string(changed.begin) + "-" + std::to_string(changed.end) + ":" + changed.text;
}

TEST_CASE("the smallest piece of lines in which two texts differ") {
  CHECK(piece("a\nb\nc\n", "a\nx\nc\n") == "2-3:x\n");
  CHECK(piece("a\nc\n", "a\nb\nc\n") == "2-2:b\n");
  CHECK(piece("a\nb\nc\n", "a\nc\n") == "2-3:");
  CHECK(piece("a\nb", "a\nb\nc") == "2-3:b\nc");
  CHECK(piece("", "a\n") == "1-1:a\n");
  CHECK(piece("a\na\n", "a\n") == "2-3:");
  CHECK(piece("a\n", "a\n") == "2-2:");
}

}  // namespace
}  // namespace shardlab
