#include "engine/report/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "tests/catch.h"

using namespace shardlab;

TEST_CASE("what is no terminal has the width of COLUMNS, and no colours") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const char* old = std::getenv("COLUMNS");
  const std::string kept = old != nullptr ? old : "";
  const auto width_with = [&](const char* columns) {
    setenv("COLUMNS", columns, 1);
    const TextStyle style = text_style(ends[1]);
    CHECK_FALSE(style.colour);
    return style.width;
  };
  CHECK(width_with("123") == 123);
  CHECK(width_with("") == 200);  // a pipe is not cut as a terminal is
  CHECK(width_with("wide") == 200);
  CHECK(width_with("-5") == 200);
  CHECK(width_with("3") == 40);
  CHECK(width_with("1000000") == 500);
  old != nullptr ? setenv("COLUMNS", kept.c_str(), 1) : unsetenv("COLUMNS");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("prose has lines that can be read") {
  CHECK(prose_width({.width = 80}) == 80);
  CHECK(prose_width({.width = 200}) == 110);
}
