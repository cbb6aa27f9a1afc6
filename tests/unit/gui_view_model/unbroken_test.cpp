#include "gui/view_model/words/unbroken.h"

#include "tests/catch.h"

using namespace shardlab::view;

TEST_CASE("a figure and its unit stay in one line") {
  CHECK(is_unit_behind("9.38", "ms"));
  CHECK(is_unit_behind("1,016", "MiB"));
  CHECK(is_unit_behind("(+12", "%)."));
  CHECK(is_unit_behind("-4.2", "GiB;"));
  CHECK_FALSE(is_unit_behind("9.38", "milliseconds"));
  CHECK_FALSE(is_unit_behind("four", "s"));
  CHECK_FALSE(is_unit_behind("u1", "B"));
  CHECK_FALSE(is_unit_behind("3", ""));
  CHECK_FALSE(is_unit_behind("", "ms"));
}
