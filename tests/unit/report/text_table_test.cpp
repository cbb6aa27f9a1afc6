#include "engine/report/text_table.h"

#include "tests/catch.h"

using namespace shardlab;

namespace {

TextTable two_columns() {
  return TextTable({{"name", Align::left, true}, {"count"}});
}

}  // namespace

TEST_CASE("columns are as wide as their content, numbers to the right, no blanks at the end") {
  TextTable table = two_columns();
  table.add({"a", "1"});
  table.add({"longer", "12,345"});
  table.add({"short of cells"});
  CHECK(table.text({}) ==
        "name             count\n"
        "a                    1\n"
        "longer          12,345\n"
        "short of cells\n");
}

TEST_CASE("elastic columns are cut where space runs out, others never") {
  TextTable table = two_columns();
  table.add({"a name that is much too long for this", "12,345"});
  CHECK(table.text({.width = 24}) ==
        "name               count\n"
        "a name that is..  12,345\n");
  CHECK(table.text({.width = 5}) ==
        "name       count\n"
        "a name..  12,345\n");
}

TEST_CASE("the widest elastic column gives first") {
  TextTable table({{"", Align::left, true}, {"", Align::left, true}});
  table.add({"0123456789abcdef", "0123456789"});
  CHECK(table.text({.width = 22}) == "01234567..  0123456789\n");
}

TEST_CASE("columns that may go are left out when cutting is not enough, the lowest number first") {
  TextTable table({{.title = "a", .drop = 2}, {.title = "b"}, {.title = "c", .drop = 1}});
  table.add({"11111", "22222", "33333"});
  CHECK(table.text({.width = 19}) == "    a      b      c\n11111  22222  33333\n");
  CHECK(table.text({.width = 18}) == "    a      b\n11111  22222\n");
  CHECK(table.text({.width = 11}) == "    b\n22222\n");
  CHECK(table.text({.width = 1}) == "    b\n22222\n");
}

TEST_CASE("width counts characters, not bytes, and a cut leaves whole ones") {
  TextTable table = two_columns();
  table.add({"\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4", "1"});
  CHECK(table.text({.width = 15}) ==
        "name      count\n"
        "\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc..      1\n");
}

TEST_CASE("text from elsewhere cannot break a table or reach the terminal") {
  TextTable table = two_columns();
  table.add({"a\nb\x1b[2J", "1"});
  CHECK(table.text({}) == "name          count\na b\\u001b[2J      1\n");
  TextTable coloured = two_columns();
  coloured.add({{"\x1b[2J\xff", Tone::good}, "1"});
  CHECK_THAT(coloured.text({.colour = true}), test::contains_text("\x1b[32m\\u001b[2J\\xff\x1b[0m      1\n"));
  CHECK(painted("\x1b[2J", Tone::bad, {.colour = true}) == "\x1b[31m\\u001b[2J\x1b[0m");
}

TEST_CASE("colours only where they are wanted, and they take no width") {
  TextTable table = two_columns();
  table.add({{"good", Tone::good}, "1"});
  CHECK(table.text({}) == "name  count\ngood      1\n");
  CHECK_THAT(table.text({.colour = true}), test::contains_text("\x1b[32mgood\x1b[0m      1\n"));
}
