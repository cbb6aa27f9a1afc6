#include "engine/base/csv.h"

#include "tests/catch.h"

namespace shardlab {
namespace {

using test::contains_text;

CsvTable parsed(std::string_view text) {
  auto table = parse_csv(text, "t.csv");
  REQUIRE_OK(table);
  return *table;
}

std::string error_of(std::string_view text) {
  const auto table = parse_csv(text, "t.csv");
  REQUIRE_FALSE(table);
  CHECK(table.error().kind == ErrorKind::bad_input);
  return message_text(table.error());
}

TEST_CASE("csv: the first record names the columns") {
  const CsvTable table = parsed("a,b\n1,2\n3,\n");
  CHECK(table.columns == std::vector<std::string>{"a", "b"});
  REQUIRE(table.records.size() == 2);
  CHECK(table.records[0].fields == std::vector<std::string>{"1", "2"});
  CHECK(table.records[1].fields == std::vector<std::string>{"3", ""});
  CHECK(table.column("b") == 1u);
  CHECK_FALSE(table.column("c"));
}

TEST_CASE("csv: quoted fields hold commas, quotes and line breaks, and lines are counted through them") {
  const CsvTable table = parsed("a,b\r\n\"x, y\",\"say \"\"so\"\"\"\r\n\"two\nlines\",\"\"\r\nlast,1");
  REQUIRE(table.records.size() == 3);
  CHECK(table.records[0].fields == std::vector<std::string>{"x, y", "say \"so\""});
  CHECK(table.records[1].fields == std::vector<std::string>{"two\nlines", ""});
  CHECK(table.records[1].line == 3);
  CHECK(table.records[2].line == 5);
}

TEST_CASE("csv: a byte-order mark and empty lines are passed over") {
  const CsvTable table = parsed(
      "\xEF\xBB\xBF"
      "a\n\n1\n\n");
  CHECK(table.columns.front() == "a");
  REQUIRE(table.records.size() == 1);
  CHECK(table.records[0].line == 3);
}

TEST_CASE("csv: what is no table is refused with its line") {
  CHECK_THAT(error_of(""), contains_text("is empty"));
  CHECK_THAT(error_of("a,b\n1\n"), contains_text("t.csv:2: 1 fields, but there are 2 columns"));
  CHECK_THAT(error_of("a\n\"x\n\n"), contains_text("t.csv:2: the quote that opens here is never closed"));
  CHECK_THAT(error_of("a\n\"x\"y\n"), contains_text("t.csv:2: text between a quoted field"));
  CHECK_THAT(error_of("a\nx\"y\"\n"), contains_text("t.csv:2: a quote inside a field"));
  CHECK_THAT(error_of("a,a\n"), contains_text("t.csv:1: two columns are called 'a'"));
  CHECK_THAT(error_of("a,\n"), contains_text("t.csv:1: a column has no name"));
}

TEST_CASE("csv: a field is quoted where it must be, and reads back") {
  CHECK(csv_field("plain text") == "plain text");
  CHECK(csv_field("a, \"b\"") == "\"a, \"\"b\"\"\"");
  for (const char* text : {"", "1,2", "say \"so\"", "two\nlines", "two\r\nlines"})
    CHECK(parsed("a,b\n" + csv_field(text) + ",x\n").records[0].fields[0] == text);
}

}  // namespace
}  // namespace shardlab
