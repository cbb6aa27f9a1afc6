#include "engine/trace/run_entry.h"

#include "tests/catch.h"

using namespace shardlab;

TEST_CASE("runs are written r12") {
  CHECK(to_string(RunId{12}) == "r12");
  CHECK(parse_run_id("r12").value() == RunId{12});
  CHECK(parse_run_id("7").value() == RunId{7});
  for (const char* text : {"", "r", "r0", "0", "-3", "r12x", "12.5", "rr1", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_run_id(text).has_value());
  }
}

TEST_CASE("times are written in UTC") {
  CHECK(format_created(0) == "1970-01-01 00:00");
  CHECK(format_created(1772373900) == "2026-03-01 14:05");
}
